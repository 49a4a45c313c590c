"""The panel of what new thresholds do to the gates and the comparison of a run."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from evalsite.pages.thresholds.effects import effects_url
from scoring.models import Run, Scorer
from tests.conftest import MakeDataset
from tests.support.suite_runs import entry_of, suite_run

pytestmark = pytest.mark.django_db


def words(answer: Any) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", answer.text)).split())


@pytest.fixture
def run(make_dataset: MakeDataset) -> Run:
    """The latest of two runs of the suite `release`."""
    version = make_dataset([{}] * 20)
    suite_run(version, {"close": [0.9] * 20}, name="w45")
    return suite_run(version, {"close": [0.9] * 12 + [0.7] * 8}, name="w46")


def url_at(run: Run, new: float) -> str:
    return effects_url(run, {Scorer.objects.get(name="close"): new})


def test_gates_say_what_they_would_have_answered(alices: Client, run: Run) -> None:
    said = words(alices.get(url_at(run, 0.8)))
    assert "pass_rate>=0.9 ✓ passed 1 ✕ would have failed 0.6" in said
    assert "regressions<=0 ✓ passed 0 ✕ would have failed 8" in said
    assert "Case verdicts 20 pass, 0 fail 12 pass, 8 fail" in said
    assert "Against w45, 0 broke and 0 were fixed as scored; 8 would have broken" in said
    assert "That would be a statistically significant drop." in said


def test_a_gate_of_the_users_own_is_checked(alices: Client, run: Run) -> None:
    said = words(alices.get(f"{url_at(run, 0.8)}&gate=mean.close>=0.8"))
    assert "mean.close>=0.8 ✓ passed 0.82 ✓ passed 0.82" in said
    refused = alices.get(f"{url_at(run, 0.8)}&gate=mean.other>=0.8")
    assert refused.status_code == 422
    assert "no such scorer" in words(refused)
    assert alices.get(f"{url_at(run, 0.8)}&gate=nonsense").status_code == 422


def test_htmx_gets_the_panel_alone(alices: Client, run: Run) -> None:
    headers = {"HX-Request": "true", "HX-Target": "effects"}
    answer = alices.get(url_at(run, 0.8), headers=headers)
    assert answer.text.lstrip().startswith('<section class="section" id="effects"')


def test_without_a_baseline_or_a_result_it_is_said(
    alices: Client, make_dataset: MakeDataset
) -> None:
    run = suite_run(make_dataset([{}]), {"close": [0.6]})
    assert "There is no finished run to compare with." in words(alices.get(url_at(run, 0.7)))
    Run.objects.filter(pk=run.pk).update(state="running")
    assert "The run is running: this requires a finished run." in words(
        alices.get(url_at(run, 0.7))
    )


def test_a_preview_asks_for_the_panel_of_its_run(alices: Client, run: Run) -> None:
    entry = entry_of()
    page = reverse("suite_threshold", args=[entry.suite.uuid, entry.scorer.uuid])
    assert url_at(run, 0.8) in unescape(alices.get(page, {"threshold": "0.8"}).text)
    assert "thresholds/effects/" not in alices.get(page).text
