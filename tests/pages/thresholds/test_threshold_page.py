from __future__ import annotations

import pytest

from evalsite.pages.thresholds import threshold_page
from evalsite.pages.thresholds.threshold_page import ThresholdPage
from scoring.engine.thresholds.preview import Preview
from scoring.models import User
from tests.conftest import MakeDataset
from tests.support.suite_runs import entry_of, suite_run

pytestmark = pytest.mark.django_db


def page_at(new: float, **asked: object) -> ThresholdPage:
    person, _ = User.objects.get_or_create(email="ann@example.org")
    return ThresholdPage(Preview.of(entry_of(), new), asked, person)


def test_the_latest_run_is_shown_unless_another_is_named(make_dataset: MakeDataset) -> None:
    version = make_dataset([{}])
    first, latest = (suite_run(version, {"close": [0.6]}, name=name) for name in ("w45", "w46"))
    for asked, wanted in (({}, latest), ({"run": first.uuid}, first), ({"run": None}, latest)):
        chosen = page_at(0.7, **asked).chosen
        assert chosen
        assert chosen.run == wanted


def test_the_table_has_the_rates_of_all_runs_at_each_tenth(make_dataset: MakeDataset) -> None:
    version = make_dataset([{}] * 2)
    suite_run(version, {"close": [0.6, 1]}, name="w45")
    suite_run(version, {"close": [0.3, 0.6]}, name="w46")
    table = page_at(0.5).table
    assert [row.threshold for row in table][::5] == [0, 0.5, 1]
    assert [list(row.rates) for row in table][::5] == [[1, 1], [0.5, 1], [0, 0.5]]


def test_a_later_trial_has_an_address_of_its_own(make_dataset: MakeDataset) -> None:
    run = suite_run(make_dataset([{}] * 2), {"close": [0.6, 0.6]})
    run.output_set.outputs.filter(case__position=2).update(trial=3)
    urls = [row.url for row in page_at(0.7).rows()]
    assert [url.rpartition("cases/")[2] for url in urls] == ["1/", "2/?trial=3"]


def test_case_verdicts_are_counted_for_few_flips(
    make_dataset: MakeDataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite_run(make_dataset([{}] * 3), {"close": [0.6, 0.6, 0.2]})
    assert page_at(0.7).case_verdicts_text == "All their case verdicts change."
    assert page_at(0.5).case_verdicts_text == ""
    monkeypatch.setattr(threshold_page, "MAX_CHECKED", 1)
    assert page_at(0.7).case_verdicts_text == ""
