"""Name and note, the archive, and deletion with a way back, on the pages."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from scoring.models import AuditEntry, Baseline, Run, Team, User
from tests.pages.runs.steps import BrowserOf, MakeSet, url
from tests.support.run_states import finished_run
from tests.support.undone import undone


def post(browser: Client, verb: str, run: Run, **sent: str) -> str:
    return browser.post(reverse(f"{verb}_run", args=[run.uuid]), sent, follow=True).text


def listed(browser: Client, team: Team, query: str = "") -> list[str]:
    answer = browser.get(reverse("runs", args=[team.slug]) + query)
    return [run.name for run in answer.context["page"].rows]


def test_a_name_and_a_note_are_shown(alices: Client, run: Run) -> None:
    page = post(alices, "edit", run, name="release", note="Do not <b>ship</b>.\r\nEver\u200b.")
    assert "release" in page
    assert "Do not &lt;b&gt;ship&lt;/b&gt;." in page
    assert "zero width space" in page
    run.refresh_from_db()
    assert run.note == "Do not <b>ship</b>.\nEver\u200b."


def test_a_run_needs_a_name(alices: Client, run: Run) -> None:
    answer = alices.post(reverse("edit_run", args=[run.uuid]), {"name": "", "note": ""})
    assert answer.status_code == 422
    run.refresh_from_db()
    assert run.name == "w46"


def test_an_archived_run_is_listed_only_when_asked_for(
    alices: Client, run: Run, make_set: MakeSet
) -> None:
    other = finished_run(make_set(["yes"]), name="other")
    assert "The run is archived" in post(alices, "archive", run)
    assert listed(alices, run.team) == ["other"]
    assert listed(alices, run.team, "?shown=archived") == ["w46"]
    assert listed(alices, run.team, "?shown=all") == ["other", "w46"]
    home = alices.get(reverse("team_home", args=[run.team.slug]))
    assert [each.name for each in home.context["runs"]] == ["other"]
    page = alices.get(url(run)).text
    assert "Take out of the archive" in page
    assert '<span class="tag">archived</span>' in page
    post(alices, "unarchive", run)
    assert listed(alices, other.team) == ["other", "w46"]


def test_a_deletion_is_taken_back_on_the_list_it_leads_to(alices: Client, run: Run) -> None:
    address = url(run)
    page = post(alices, "delete", run)
    assert "w46 is deleted. You can restore it until" in page
    assert alices.get(address).status_code == 404
    assert listed(alices, run.team) == []
    assert listed(alices, run.team, "?shown=deleted") == ["w46"]
    assert "w46 is back." in post(alices, "restore", run)
    assert alices.get(address).status_code == 200
    assert listed(alices, run.team) == ["w46"]


def test_a_run_that_another_tab_has_deleted_or_brought_back_is_no_dead_end(
    alices: Client, run: Run
) -> None:
    for verb, said in (("delete", "w46 is deleted."), ("restore", "w46 is back.")):
        for _ in range(2):
            assert said in post(alices, verb, run)
    told = AuditEntry.objects.about(run).filter(action__in=["run.deleted", "run.restored"])
    assert told.count() == 2


def test_the_api_forgets_a_deleted_run(alices: Client, run: Run) -> None:
    post(alices, "delete", run)
    assert alices.get(reverse("api:runs")).json()["results"] == []
    for name in ("run", "run_results"):
        assert alices.get(reverse(f"api:{name}", args=[run.uuid])).status_code == 404


def test_a_deleted_run_is_compared_with_nothing(
    alices: Client, run: Run, make_set: MakeSet
) -> None:
    other = finished_run(make_set(["yes"] * 4), name="other")
    post(alices, "delete", run)
    query = f"?baseline={run.uuid}&candidate={other.uuid}"
    address = reverse("compare", args=[run.team.slug]) + query
    assert alices.get(address).status_code == 404
    assert alices.get(url(other)).context["measured_by"] is None


def test_a_run_that_must_stay_says_why(alices: Client, queued: Run, make_set: MakeSet) -> None:
    assert "The run is queued: cancel it first." in post(alices, "delete", queued)
    assert ">Delete<" not in alices.get(url(queued)).text
    pinned = finished_run(make_set(["yes"]))
    Baseline.objects.create(
        dataset=pinned.output_set.version.dataset, series=pinned.output_set.series, run=pinned
    )
    assert "take it back as baseline first" in post(alices, "delete", pinned)
    assert Run.objects.count() == 2


def test_a_viewer_is_offered_none_of_it(browser_of: BrowserOf, bob: User, run: Run) -> None:
    page = browser_of(bob).get(url(run)).text
    for words in ("Name and note", "Archive", ">Delete<"):
        assert words not in page


def test_a_list_asked_for_strangely_shows_no_deletion(
    alices: Client, run: Run, subtests: pytest.Subtests
) -> None:
    cases: list[str] = ["?undo=nothing", "?undo=", "?shown=nothing"]
    for query in cases:
        with subtests.test(query=query), undone():
            page = alices.get(reverse("runs", args=[run.team.slug]) + query).text
            assert "is deleted" not in page


def test_lists_of_datasets_do_not_count_deleted_runs(
    alices: Client, run: Run, make_set: MakeSet
) -> None:
    finished_run(make_set(["yes"]), name="other")
    post(alices, "delete", run)
    for page in ("team_home", "datasets"):
        context = alices.get(reverse(page, args=[run.team.slug])).context
        rows = context["datasets"] if page == "team_home" else context["page"].rows
        assert [each.run_count for each in rows] == [1]
