"""Broken cases accepted, rejected, waived and reopened on the page of a comparison."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta
from html import unescape
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

import pytest
from django.core import signing
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from scoring.models import AuditEntry, CaseDecision, Run, Team, User, Waiver
from scoring.models.reviews.broken_cases import BrokenCases
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with
from tests.support.html import Reader
from tests.support.undone import undone
from tests.support.waived_runs import waive

BrowserOf = Callable[[User], Client]
KEYS = [f"q{n}" for n in range(6)]


@pytest.fixture
def runs(make_dataset: MakeDataset) -> tuple[Run, Run]:
    """q0 to q3 broke by `close`, q0 and q1 also by `tone`."""
    version = make_dataset([{"key": key} for key in KEYS])
    old = run_with(version, {"close": [1.0] * 6, "tone": [1.0] * 6}, name="w45")
    bad = {"close": [0, 0, 0, 0, 1, 1], "tone": [0, 0, 1, 1, 1, 1]}
    return old, run_with(version, bad, name="w46")


@pytest.fixture
def reviewer(browser_of: BrowserOf, rita: User) -> Client:
    return browser_of(rita)


def page_url(runs: tuple[Run, Run], **query: str) -> str:
    named = {"baseline": runs[0].uuid, "candidate": runs[1].uuid, **query}
    return f"{reverse('compare', args=[runs[0].team.slug])}?{urlencode(named)}"


def send(browser: Client, runs: tuple[Run, Run], do: str, *places: int, **more: Any) -> Any:
    sent = {"do": do, "baseline": str(runs[0].uuid), "place": list(map(str, places)), **more}
    return browser.post(reverse("sign_off_cases", args=[runs[1].uuid]), sent, follow=True)


def terms(by: User, **other: str) -> dict[str, str]:
    until = timezone.localdate() + timedelta(days=3)
    return {"reason": "Known.", "until": until.isoformat(), "owner": str(by.pk), **other}


def states(runs: tuple[Run, Run]) -> str:
    """The first letters of the states of q0 to q3."""
    broken = BrokenCases(*runs)
    outputs = runs[1].output_set.outputs.filter(case__key__in=KEYS[:4]).order_by("case__position")
    return "".join(broken.state_of(pk).value[0] for pk in outputs.values_list("pk", flat=True))


def shown(answer: Any) -> dict[str, str]:
    """By key the state that the list shows."""
    rows = re.findall(r'<tr id="case-.*?</tr>', answer.text, re.DOTALL)
    found = [re.search(r'class="case-state.*?</td>', row, re.DOTALL) for row in rows]
    keys = [str(re.search(r"q\d", row)[0]) for row in rows]  # type: ignore[index]
    texts = [" ".join(Reader(f"<p {each[0]}").text.split()) if each else "" for each in found]
    return dict(zip(keys, texts, strict=True))


def undo(browser: Client, answer: Any) -> Any:
    """Press Undo in the message of the page."""
    form = answer.text.partition('id="undo-1"')[2].partition("</form>")[0]
    inputs = re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form)
    fields = {name: unescape(value) for name, value in inputs}
    return browser.post(form.partition('action="')[2].partition('"')[0], fields, follow=True)


def test_ticked_cases_are_accepted_and_rejected(
    reviewer: Client, runs: tuple[Run, Run], rita: User
) -> None:
    answer = send(reviewer, runs, "accepted", 1, 2, note="A better answer.")
    assert "2 cases accepted." in answer.text
    send(reviewer, runs, "rejected", 3)
    assert states(runs) == "aaro"
    answer = reviewer.get(page_url(runs))
    assert shown(answer) == {"q0": "accepted", "q1": "accepted", "q2": "rejected", "q3": "open"}
    assert f'title="{rita}: A better answer."' in answer.text
    decision = CaseDecision.objects.get(output__case__key="q0")
    assert (decision.decided_by, decision.reason) == (rita, "A better answer.")


def test_without_a_tick_the_listed_cases_are_meant(reviewer: Client, runs: tuple[Run, Run]) -> None:
    send(reviewer, runs, "accepted", 1)
    send(reviewer, runs, "rejected", query="kind=broke&state=open")
    assert states(runs) == "arrr"
    answer = send(reviewer, runs, "accepted", query="kind=broke&state=open")
    assert "No broken case is selected or listed" in answer.text
    send(reviewer, runs, "reopen", query="kind=broke&q=no such text")
    assert states(runs) == "arrr"


def test_a_waiver_asks_for_reason_day_and_owner(
    reviewer: Client, runs: tuple[Run, Run], rita: User, alice: User
) -> None:
    answer = send(reviewer, runs, "waive", 1, 3, **terms(alice))
    until = date.fromisoformat(terms(alice)["until"])
    assert f"2 cases waived until {until:%-d %b %Y}." in answer.text
    assert states(runs) == "wowo"
    waivers = [(w.case_key, w.scorer.name) for w in Waiver.objects.order_by("pk")]
    assert sorted(waivers) == [("q0", "close"), ("q0", "tone"), ("q2", "close")]
    assert {(w.owner, w.created_by) for w in Waiver.objects.all()} == {(alice, rita)}
    assert shown(answer)["q0"] == f"waived until {until:%-d %b %Y}"


def test_unsound_terms_are_refused_and_kept(
    reviewer: Client, runs: tuple[Run, Run], rita: User, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[dict[str, str], str]] = [
        ({"reason": " "}, "This field is required."),
        ({"until": ""}, "This field is required."),
        ({"until": "2020-01-01"}, "This day is over"),
        ({"owner": "0"}, "Select a valid choice"),
    ]
    for sent, said in cases:
        with subtests.test(sent=sent, said=said), undone():
            answer = send(reviewer, runs, "waive", 1, **terms(rita, **sent), query="kind=broke")
            assert answer.status_code == 422
            assert said in answer.text
            assert not Waiver.objects.exists()
            if "reason" not in sent:
                assert "Known.</textarea>" in answer.text


def test_viewers_and_strangers_cannot_own_a_waiver(
    reviewer: Client, runs: tuple[Run, Run], bob: User, charlie: User
) -> None:
    for person in (bob, charlie):
        assert send(reviewer, runs, "waive", 1, **terms(person)).status_code == 422


def test_reopening_ends_waivers_and_clears_decisions(
    reviewer: Client, runs: tuple[Run, Run], rita: User
) -> None:
    send(reviewer, runs, "waive", 1, 2, **terms(rita))
    send(reviewer, runs, "rejected", 3)
    send(reviewer, runs, "reopen", 1, 3)
    assert states(runs) == "owoo"
    assert Waiver.objects.open().count() == 2
    actions = AuditEntry.objects.filter(actor_id=str(rita.pk)).values_list("action", flat=True)
    assert set(actions) == {"waiver.created", "waiver.ended", "case.rejected", "case.reopened"}


def test_each_act_can_be_undone(
    reviewer: Client, runs: tuple[Run, Run], rita: User, subtests: pytest.Subtests
) -> None:
    cases: list[str] = ["accepted", "rejected", "waive", "reopen"]
    send(reviewer, runs, "accepted", 1, note="Good.")
    send(reviewer, runs, "waive", 2, **terms(rita))
    (before,) = {w.pk for w in Waiver.objects.open().filter(scorer__name="tone")}
    assert states(runs) == "awoo"
    for do in cases:
        with subtests.test(do=do), undone():
            answer = send(reviewer, runs, do, 1, 2, 3, **terms(rita, reason="Others."))
            assert states(runs) == {"reopen": "ooo"}.get(do, do[0] * 3) + "o"
            undo(reviewer, answer)
            assert states(runs) == "awoo"
            assert CaseDecision.objects.get().reason == "Good."
            assert {w.pk for w in Waiver.objects.open().filter(scorer__name="tone")} == {before}


def test_an_expired_waiver_is_named(reviewer: Client, runs: tuple[Run, Run], rita: User) -> None:
    waiver = waive(runs[1], "q2", "close", rita, days=-2)
    found = shown(reviewer.get(page_url(runs)))["q2"]
    assert found == f"open waiver expired {waiver.until:%-d %b %Y}"


def test_the_list_is_filtered_by_state(reviewer: Client, runs: tuple[Run, Run], rita: User) -> None:
    send(reviewer, runs, "accepted", 1)
    send(reviewer, runs, "waive", 2, **terms(rita))
    wanted = {"open": ["q2", "q3"], "accepted": ["q0"], "rejected": [], "waived": ["q1"]}
    for state, keys in wanted.items():
        answer = reviewer.get(page_url(runs, kind="broke", state=state))
        cases = answer.context["pair"].cases
        assert [row.row.pair.key for row in cases.rows] == keys
        assert [link.cases for link in cases.state_links] == [2, 1, 0, 1]
        assert [link.title for link in cases.state_links if link.is_here] == [state]
    fixed = reviewer.get(page_url(runs, kind="unchanged", state="accepted"))
    assert [row.row.pair.key for row in fixed.context["pair"].cases.rows] == ["q4", "q5"]
    assert reviewer.get(page_url(runs, kind="broke", state="no")).text.count("Select a valid") == 1


def test_only_reviewers_may(
    browser_of: BrowserOf, runs: tuple[Run, Run], bob: User, charlie: User
) -> None:
    answer = browser_of(bob).get(page_url(runs))
    assert shown(answer)["q0"] == "open"
    assert 'name="do"' not in answer.text
    assert send(browser_of(bob), runs, "accepted", 1).status_code == 403
    assert send(browser_of(charlie), runs, "accepted", 1).status_code == 404
    assert states(runs) == "oooo"


def test_a_baseline_of_another_team_is_as_good_as_none(
    reviewer: Client, runs: tuple[Run, Run]
) -> None:
    other = Team.objects.create(name="Elsewhere", slug="elsewhere")
    Run.objects.filter(pk=runs[0].pk).update(team=other)
    assert send(reviewer, runs, "accepted", 1).status_code == 404
    missing = {"do": "accepted", "baseline": str(uuid4()), "place": "1"}
    address = reverse("sign_off_cases", args=[runs[1].uuid])
    assert reviewer.post(address, missing).status_code == 404


def test_what_did_not_break_is_left_alone(reviewer: Client, runs: tuple[Run, Run]) -> None:
    for places in (["5"], ["x"], ["999"]):
        sent = {"do": "accepted", "baseline": str(runs[0].uuid), "place": places}
        reviewer.post(reverse("sign_off_cases", args=[runs[1].uuid]), sent)
    assert not CaseDecision.objects.exists()


def test_an_undo_that_the_site_did_not_sign_changes_nothing(
    reviewer: Client, runs: tuple[Run, Run], subtests: pytest.Subtests
) -> None:
    cases: list[str] = [
        "{}",
        '{"decisions": [], "waivers": [5]}',
        '{"decisions": [[Infinity,"accepted",""]], "waivers": []}',
        signing.dumps({"before": {"decisions": [], "waivers": []}}),
        "a\x00b",
    ]
    send(reviewer, runs, "accepted", 1)
    for change in cases:
        with subtests.test(change=change), undone():
            answer = send(reviewer, runs, "undo", 1, change=change)
            assert answer.status_code == 200
            assert "Nothing was changed" in answer.text
            assert states(runs) == "aooo"


def test_an_undo_never_replaces_what_a_colleague_decided_since(
    reviewer: Client, browser_of: BrowserOf, alice: User, runs: tuple[Run, Run]
) -> None:
    answer = send(reviewer, runs, "accepted", 1, 2)
    send(browser_of(alice), runs, "rejected", 2, note="Wrong.")
    answer = undo(reviewer, answer)
    assert "Another user decided on these cases in the meantime. Nothing was undone." in answer.text
    assert states(runs) == "aroo"
    assert CaseDecision.objects.get(output__case__key="q1").decided_by == alice


def seen(page: Any) -> str:
    """What the form of the page says was decided."""
    return str(re.findall(r'name="seen" value="([^"]*)"', page.text)[0])


def test_what_a_colleague_decided_since_the_page_was_loaded_is_not_replaced(
    reviewer: Client,
    browser_of: BrowserOf,
    alice: User,
    runs: tuple[Run, Run],
    subtests: pytest.Subtests,
) -> None:
    cases: list[str] = ["accepted", "waive", "reopen"]
    for do in cases:
        with subtests.test(do=do), undone():
            old = seen(reviewer.get(page_url(runs)))
            send(browser_of(alice), runs, "rejected", 2, note="Wrong <tone>.")
            answer = send(reviewer, runs, do, 1, 2, seen=old, **terms(alice), note="Fine.")
            assert answer.status_code == 409
            said = f"Decided in the meantime: {alice} rejected q1 (Wrong &lt;tone&gt;). Nothing"
            assert said in answer.text
            assert states(runs) == "oroo"
            assert shown(answer)["q1"] == "rejected"
            form = answer.text.partition('id="ticks"')[2]
            assert 'value="Fine."' in form
            assert len(re.findall(r'name="place" value="[12]"[^>]* checked', form)) == 2
            if do == "waive":
                assert "Known.</textarea>" in form
            again = send(reviewer, runs, do, 1, 2, seen=seen(answer), **terms(alice))
            assert again.status_code == 200
            assert states(runs) == {"reopen": "oo"}.get(do, do[0] * 2) + "oo"


def test_a_colleagues_waiver_is_not_replaced_either(
    reviewer: Client, browser_of: BrowserOf, alice: User, rita: User, runs: tuple[Run, Run]
) -> None:
    old = seen(reviewer.get(page_url(runs)))
    send(browser_of(alice), runs, "waive", 3, **terms(alice))
    answer = send(reviewer, runs, "rejected", 3, seen=old)
    assert answer.status_code == 409
    assert f"{alice} waived q2 for close until" in answer.text
    assert states(runs) == "oowo"


def test_decisions_on_other_cases_are_no_obstacle(
    reviewer: Client, browser_of: BrowserOf, alice: User, runs: tuple[Run, Run]
) -> None:
    old = seen(reviewer.get(page_url(runs)))
    send(browser_of(alice), runs, "rejected", 1)
    assert send(reviewer, runs, "accepted", 2, seen=old).status_code == 200
    assert states(runs) == "raoo"


def test_ticks_of_other_pages_and_unlisted_cases_stay(
    reviewer: Client, browser_of: BrowserOf, alice: User, runs: tuple[Run, Run]
) -> None:
    query = {"kind": "broke", "state": "open"}
    old = seen(reviewer.get(page_url(runs, **query)))
    send(browser_of(alice), runs, "accepted", 2)
    answer = send(reviewer, runs, "rejected", 1, 2, seen=old, query=urlencode(query))
    assert list(shown(answer)) == ["q0", "q2", "q3"]
    assert '<input type="hidden" name="place" value="2" data-ticked>' in answer.text


def test_a_mark_that_cannot_be_read_changes_nothing(
    reviewer: Client, runs: tuple[Run, Run], subtests: pytest.Subtests
) -> None:
    cases: list[str] = ["x", "1", "1.x", "1.2.3"]
    for text in cases:
        with subtests.test(text=text), undone():
            assert "Nothing was changed" in send(reviewer, runs, "accepted", 1, seen=text).text
            assert states(runs) == "oooo"


def test_the_number_of_queries_does_not_grow(
    reviewer: Client, runs: tuple[Run, Run], rita: User
) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            reviewer.get(page_url(runs))
        return len(queries)

    send(reviewer, runs, "accepted", 1)
    waive(runs[1], "q2", "close", rita)
    count()  # the message is shown once
    few = count()
    send(reviewer, runs, "rejected", 2)
    waive(runs[1], "q3", "close", rita)
    count()
    assert count() == few
