"""A person is told, on whatever page they are, that a run of theirs has ended."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from scoring.engine.processes.process_pool import InlineExecutor
from scoring.engine.runs import planning
from scoring.engine.runs.notifications import notify_run_end
from scoring.engine.worker import run_dispatcher
from scoring.models import Notice, Run, RunState, Scorer, Team, Token, User
from tests.pages.runs.steps import BrowserOf, MakeSet, url
from tests.support.run_states import finished_run, queued_run
from tests.support.undone import undone

PART = {"HX-Request": "true", "HX-Target": "notices"}


def ended(run: Run, by: User, seconds: float = 61, state: str = "finished") -> Run:
    now = timezone.now()
    begun = now - timedelta(seconds=seconds)
    fields = {"created_by": by, "started_at": begun, "finished_at": now, "state": state}
    Run.objects.filter(pk=run.pk).update(**fields)
    run.refresh_from_db()
    return run


def runs_page(run: Run) -> str:
    return reverse("runs", args=[run.team.slug])


def test_a_run_is_told_to_who_started_it_and_nobody_else(
    alices: Client, browser_of: BrowserOf, alice: User, bob: User, run: Run
) -> None:
    notify_run_end(ended(run, alice))
    told = "w46 has finished: 1 pass, 2 fail, 1 error."
    assert told in alices.get(runs_page(run)).text
    assert told not in browser_of(bob).get(runs_page(run)).text


def test_of_what_programs_start_only_what_takes_a_minute_is_told(
    alice: User, run: Run, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[bool, float, bool]] = [
        (False, 0, True),
        (True, 0, False),
        (True, 59, False),
        (True, 60, True),
    ]
    for by_program, seconds, is_told in cases:
        with subtests.test(by_program=by_program, seconds=seconds, is_told=is_told), undone():
            run.by_program = by_program
            run.save()
            notify_run_end(ended(run, alice, seconds))
            assert Notice.objects.exists() == is_told


def test_who_starts_a_run_or_retries_it_is_known_as_program_or_person(
    alice: User, run: Run, team: Team
) -> None:
    closes = [(Scorer.objects.get(name="close"), 0.5)]
    assert not planning.create_run(run.output_set, scorers=closes, by=alice).by_program
    alice.token = Token(user=alice, team=team)
    assert planning.create_run(run.output_set, scorers=closes, by=alice).by_program
    assert planning.retry_errors(run, alice)
    run.refresh_from_db()
    assert run.by_program


def test_whoever_scores_the_errors_again_is_told_in_place_of_who_started_the_run(
    alices: Client, alice: User, bob: User, run: Run
) -> None:
    Run.objects.filter(pk=run.pk).update(created_by=bob)
    alices_polls = f'hx-get="{reverse("notices")}"'
    assert alices_polls not in alices.get(runs_page(run)).text
    planning.retry_errors(run, alice)
    assert alices_polls in alices.get(runs_page(run)).text
    run_dispatcher.run_to_end(run, InlineExecutor())
    assert Notice.objects.get().user == alice


def test_a_cancelled_run_is_told_as_that(alice: User, run: Run) -> None:
    notify_run_end(ended(run, alice, state=RunState.CANCELLED))
    assert Notice.objects.get().text == "w46 was cancelled."


def test_a_run_that_nobody_started_is_told_to_nobody(run: Run) -> None:
    notify_run_end(run)
    assert not Notice.objects.exists()


def test_the_worker_tells_the_end_with_the_end(alice: User, make_set: MakeSet) -> None:
    run = queued_run(make_set(["yes"]), by=alice)
    run_dispatcher.run_to_end(run, InlineExecutor())
    assert Notice.objects.get().run == run


def test_a_notice_is_dismissed_and_the_page_stays(alices: Client, alice: User, run: Run) -> None:
    notify_run_end(ended(run, alice))
    address = reverse("read_notice", args=[Notice.objects.get().uuid])
    answer = alices.post(address, {"next": runs_page(run)})
    assert answer["Location"] == runs_page(run)
    assert "has finished" not in alices.get(runs_page(run)).text


def test_htmx_gets_the_notices_that_are_left(alices: Client, alice: User, run: Run) -> None:
    for _ in range(2):
        notify_run_end(ended(run, alice))
    address = reverse("read_notice", args=[Notice.objects.first().uuid])  # type: ignore[union-attr]
    part = alices.post(address, headers=PART).text
    assert part.count("has finished") == 2  # the sentence and the name of its button
    assert "<html" not in part


def test_a_dismissal_never_leads_elsewhere(
    alices: Client, alice: User, run: Run, subtests: pytest.Subtests
) -> None:
    cases: list[str] = ["https://evil.example/", "//evil.example", "", "javascript:x", "runs"]
    for back in cases:
        with subtests.test(back=back), undone():
            notify_run_end(ended(run, alice))
            address = reverse("read_notice", args=[Notice.objects.get().uuid])
            assert alices.post(address, {"next": back})["Location"] == reverse("home")


def test_nobody_dismisses_what_another_is_told(
    browser_of: BrowserOf, alice: User, bob: User, run: Run
) -> None:
    notify_run_end(ended(run, alice))
    address = reverse("read_notice", args=[Notice.objects.get().uuid])
    assert browser_of(bob).post(address).status_code == 404
    assert Notice.objects.get().read_at is None


def test_whoever_opens_the_run_has_read_its_notice(alices: Client, alice: User, run: Run) -> None:
    notify_run_end(ended(run, alice))
    alices.get(url(run))
    assert Notice.objects.get().read_at is not None


def test_the_page_of_the_run_itself_is_not_told_the_end_that_it_shows(
    alices: Client, alice: User, run: Run, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[str, bool]] = [
        ("run", True),
        ("edit_run", False),
        ("runs", False),
        ("", False),
    ]
    for page, is_seen in cases:
        with subtests.test(page=page, is_seen=is_seen), undone():
            notify_run_end(ended(run, alice))
            name = run.team.slug if page == "runs" else run.uuid
            path = f"{reverse(page, args=[name])}?verdict=fail" if page else "/nowhere"
            here = {"HX-Current-URL": f"http://testserver{path}"}
            part = alices.get(reverse("notices"), headers=PART | here).text
            assert ("has finished" in part) is not is_seen
            assert (Notice.objects.get().read_at is not None) is is_seen


def test_of_many_notices_the_newest_three_are_open(
    alices: Client, alice: User, run: Run, make_set: MakeSet
) -> None:
    for number in range(5):
        other = finished_run(make_set(["yes"], f"Set {number}"), name=f"run {number}")
        notify_run_end(ended(other, alice))
    with CaptureQueriesContext(connection) as captured:
        page = alices.get(runs_page(run)).text
    shown, _, folded = page.partition('<div class="notices"')[2].partition("2 earlier notices")
    assert re.findall(r"run \d(?= has finished:.*</a>)", shown) == ["run 4", "run 3", "run 2"]
    assert "run 1 has finished" in folded
    assert sum("scoring_notice" in query["sql"] for query in captured) == 2  # one with the person


def test_a_notice_of_a_deleted_run_is_not_shown(alices: Client, alice: User, run: Run) -> None:
    notify_run_end(ended(run, alice))
    Run.objects.filter(pk=run.pk).update(deleted_at=timezone.now())
    assert "has finished" not in alices.get(runs_page(run)).text


def test_pages_look_again_only_while_an_own_run_goes_on(
    alices: Client, browser_of: BrowserOf, alice: User, bob: User, make_set: MakeSet
) -> None:
    run = queued_run(make_set(["yes"]), by=alice)
    polls = f'hx-get="{reverse("notices")}"'
    assert polls in alices.get(runs_page(run)).text
    assert polls not in browser_of(bob).get(runs_page(run)).text
    Run.objects.filter(pk=run.pk).update(state=RunState.CANCELLED)
    assert polls not in alices.get(reverse("notices"), headers=PART).text


def test_without_notices_they_cost_no_query(alices: Client, alice: User, make_set: MakeSet) -> None:
    run = finished_run(make_set(["yes"]))
    address = runs_page(run)
    with CaptureQueriesContext(connection) as before:
        alices.get(address)
    notify_run_end(ended(run, alice))
    with CaptureQueriesContext(connection) as after:
        alices.get(address)
    assert len(after) == len(before) + 1


def test_who_may_not_sign_in_any_more_is_nobody(alices: Client, alice: User, run: Run) -> None:
    User.objects.filter(pk=alice.pk).update(is_active=False)
    assert alices.get(runs_page(run)).status_code == 302
