"""A baseline is pinned and taken back on the run's page, by an administrator."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from scoring.engine.compare import jobs
from scoring.models import AuditEntry, Baseline, Job, JobKind, Member, Role, Run, Team, User
from tests.pages.runs.steps import BrowserOf, MakeSet, url
from tests.support.run_states import finished_run, queued_run
from tests.support.undone import undone

PIN, TAKE_BACK = "Set as baseline", "Unpin baseline"


@pytest.fixture
def good(make_set: MakeSet) -> Run:
    """A run without errors over all cases."""
    return finished_run(make_set(["yes", "no"]), name="w45")


def pin(run: Run) -> str:
    return reverse("pin_run", args=[run.uuid])


def unpin(run: Run) -> str:
    return reverse("unpin_run", args=[run.uuid])


def audited() -> list[str]:
    entries = AuditEntry.objects.filter(action__startswith="baseline.").order_by("pk")
    return list(entries.values_list("action", flat=True))


def test_an_administrator_pins_a_run_and_sees_it_marked(alices: Client, good: Run) -> None:
    assert PIN in alices.get(url(good)).text
    answer = alices.post(pin(good), follow=True)
    assert answer.redirect_chain == [(url(good), 302)]
    assert "Runs of the series a are now compared with this one." in answer.text
    assert '<span class="tag tag-baseline">baseline</span>' in answer.text
    assert (TAKE_BACK in answer.text, PIN in answer.text) == (True, False)
    assert Baseline.objects.get().run == good
    assert audited() == ["baseline.pinned"]


def test_an_administrator_takes_it_back(alices: Client, good: Run) -> None:
    alices.post(pin(good))
    answer = alices.post(unpin(good), follow=True)
    assert "The baseline is taken back" in answer.text
    assert "tag-baseline" not in answer.text
    assert PIN in answer.text
    assert not Baseline.objects.exists()
    assert audited() == ["baseline.pinned", "baseline.unpinned"]


def test_taking_back_what_is_no_baseline_says_so(alices: Client, good: Run) -> None:
    assert "This run is not the baseline." in alices.post(unpin(good), follow=True).text
    assert audited() == []


@pytest.mark.parametrize(
    ("texts", "reason"),
    [(["yes", None], "1 case has an error: score the errors again first.")],
)
def test_a_run_that_is_no_measure_is_refused_with_the_reason(
    alices: Client, make_set: MakeSet, texts: list[str | None], reason: str
) -> None:
    answer = alices.post(pin(finished_run(make_set(texts))), follow=True)
    assert reason in answer.text
    assert not Baseline.objects.exists()
    assert audited() == []


def test_an_unfinished_run_is_not_offered_and_refused(alices: Client, queued: Run) -> None:
    assert PIN not in alices.get(url(queued)).text
    answer = alices.post(pin(queued), follow=True)
    assert "only a finished run can be a baseline" in answer.text
    assert not Baseline.objects.exists()


def test_other_runs_of_the_series_name_their_baseline(
    alices: Client, good: Run, make_set: MakeSet
) -> None:
    alices.post(pin(good))
    other = finished_run(good.output_set, name="w46")
    text = alices.get(url(other)).text
    assert f'baseline <a href="{url(good)}">w45</a>' in text
    assert "tag-baseline" not in text
    alices.post(pin(other))
    assert Baseline.objects.get().run == other


def test_lists_of_runs_mark_the_baseline(alices: Client, good: Run, team: Team) -> None:
    addresses = [
        reverse("runs", args=[team.slug]),
        reverse("dataset_runs", args=[good.output_set.version.dataset.uuid]),
        reverse("team_home", args=[team.slug]),
    ]
    assert all("tag-baseline" not in alices.get(address).text for address in addresses)
    alices.post(pin(good))
    finished_run(good.output_set, name="w46")
    for address in addresses:
        assert alices.get(address).text.count("tag-baseline") == 1, address


def test_other_members_are_neither_offered_it_nor_let(
    browser_of: BrowserOf, team: Team, good: Run, subtests: pytest.Subtests
) -> None:
    cases: list[Role] = [Role.VIEWER, Role.REVIEWER, Role.EDITOR]
    for role in cases:
        with subtests.test(role=role), undone():
            erin = User.objects.create_user("erin@example.org")
            Member.objects.create(team=team, user=erin, role=role)
            browser = browser_of(erin)
            assert PIN not in browser.get(url(good)).text
            assert browser.post(pin(good)).status_code == 403
            Baseline.objects.pin(good, by=None)
            assert TAKE_BACK not in browser.get(url(good)).text
            assert browser.post(unpin(good)).status_code == 403
            assert Baseline.objects.exists()


def test_a_stranger_finds_no_run_to_pin(browser_of: BrowserOf, charlie: User, good: Run) -> None:
    browser = browser_of(charlie)
    assert browser.post(pin(good)).status_code == 404
    assert browser.post(unpin(good)).status_code == 404


def test_pinning_a_large_run_has_its_series_measured_anew(
    alices: Client, good: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "MAX_INLINE_PAIRS", 1)
    alices.post(pin(good))
    job = Job.objects.get()
    assert job.kind == JobKind.MEASURE_DRIFT
    assert job.request["series"] == good.output_set.series


def test_the_mark_costs_a_list_no_query(alices: Client, good: Run, team: Team) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            alices.get(reverse("runs", args=[team.slug]))
        return len(captured)

    before = queries()
    alices.post(pin(good))
    alices.get(url(good))  # shows the message, which would else be read by the list
    queued_run(good.output_set)
    assert queries() == before
