"""Views of a run's cases, kept by a person or by the whole team."""

from __future__ import annotations

import pytest
from django.http import QueryDict
from django.test import Client
from django.urls import reverse

from evalsite import access
from evalsite.pages.cases.table.forms import CaseForm
from evalsite.pages.runs.saved_views import SAVED_PARAMS, ViewForm
from scoring.models import AuditEntry, Member, Role, Run, SavedView, User
from scoring.models.reviews.saved_view import SavedViewQuerySet
from tests.pages.runs.steps import BrowserOf, url
from tests.support.undone import undone


def save(browser: Client, run: Run, name: str, query: str, *, shared: bool = False) -> str:
    sent = {"name": name, "query": query} | ({"is_shared": "on"} if shared else {})
    return browser.post(reverse("save_view", args=[run.uuid]), sent, follow=True).text


def remove(browser: Client, run: Run, view: SavedView) -> int:
    return browser.post(reverse("remove_view", args=[run.uuid, view.uuid])).status_code


def names(browser: Client, run: Run) -> list[str]:
    return [view.name for view in browser.get(url(run)).context["views"]]


def test_a_viewer_keeps_a_view_that_only_they_see(
    browser_of: BrowserOf, alice: User, bob: User, run: Run
) -> None:
    page = save(browser_of(bob), run, "worst first", "?sort=close&col=tags&col=output&after=2&n=9")
    assert "The view worst first is kept for you." in page
    assert names(browser_of(bob), run) == ["worst first"]
    assert names(browser_of(alice), run) == []
    assert SavedView.objects.get().query == "sort=close&col=tags&col=output"


def test_an_editor_keeps_a_view_for_the_whole_team(
    browser_of: BrowserOf, erin: User, bob: User, run: Run
) -> None:
    save(browser_of(bob), run, "a", "?verdict=fail")
    save(browser_of(erin), run, "z", "?verdict=fail", shared=True)
    assert names(browser_of(bob), run) == ["z", "a"]


def test_a_view_shows_what_was_kept(browser_of: BrowserOf, bob: User, run: Run) -> None:
    browser = browser_of(bob)
    save(browser, run, "close calls", "?scorer=close&min=0.5&below=1&order=desc&q=yet&col=tags")
    [view] = browser.get(url(run)).context["views"]
    shown = browser.get(url(run, f"?{view.query}")).context["cases"]
    assert [row.key for row in shown.page.rows] == ["case-2"]
    assert shown.query == QueryDict("scorer=close&min=0.5&below=1&q=yet&order=desc&col=tags")


def test_a_view_keeps_all_that_can_be_asked_but_what_is_of_one_run() -> None:
    of_one_run = {"baseline", "place", "after", "before", "n", "trial"}
    assert set(SAVED_PARAMS) == {*CaseForm.base_fields, "trials", "col"} - of_one_run


def test_the_run_that_was_compared_with_is_not_kept(
    browser_of: BrowserOf, bob: User, run: Run
) -> None:
    save(browser_of(bob), run, "broke", f"?change=broke&baseline={run.uuid}")
    assert SavedView.objects.get().query == "change=broke"


@pytest.mark.parametrize("role", [Role.VIEWER, Role.REVIEWER])
def test_nobody_below_editor_keeps_a_view_for_the_team(
    browser_of: BrowserOf, bob: User, run: Run, role: Role
) -> None:
    Member.objects.filter(user=bob).update(role=role)
    sent = {"name": "a", "query": "", "is_shared": "on"}
    answer = browser_of(bob).post(reverse("save_view", args=[run.uuid]), sent)
    assert answer.status_code == 403
    assert not SavedView.objects.exists()


def test_what_cannot_be_kept_is_said_and_the_page_stays(
    browser_of: BrowserOf, bob: User, run: Run, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[dict[str, str], str]] = [
        ({"name": ""}, "This field is required."),
        ({"name": "x" * 61}, "at most 60 characters"),
        ({"name": "taken"}, "You have a view called taken already"),
        ({"name": "long", "query": f"?q={'x' * 4_000}"}, "too long to be kept"),
    ]
    for sent, said in cases:
        with subtests.test(sent=sent, said=said), undone():
            browser = browser_of(bob)
            save(browser, run, "taken", "")
            form = {"query": "?verdict=fail"} | sent
            answer = browser.post(reverse("save_view", args=[run.uuid]), form, follow=True)
            assert said in answer.text
            assert answer.redirect_chain[0][0].endswith(f"?{form['query'][1:]}#cases")
            assert SavedView.objects.count() == 1


def test_the_same_name_serves_a_person_the_team_and_another_person(
    browser_of: BrowserOf, erin: User, bob: User, run: Run
) -> None:
    for person in (erin, bob):
        save(browser_of(person), run, "mine", "")
    save(browser_of(erin), run, "mine", "", shared=True)
    assert SavedView.objects.count() == 3


def test_an_owner_removes_a_view_and_it_is_audited(
    browser_of: BrowserOf, bob: User, run: Run
) -> None:
    save(browser_of(bob), run, "a", "?verdict=fail")
    view = SavedView.objects.get()
    assert remove(browser_of(bob), run, view) == 302
    assert not SavedView.objects.exists()
    removed, created = AuditEntry.objects.filter(action__startswith="view.")
    assert (created.action, removed.action) == ("view.created", "view.removed")
    assert created.new == removed.old == {"name": "a", "query": "verdict=fail", "shared": False}


def test_of_two_people_who_keep_one_name_at_once_the_second_is_told(
    browser_of: BrowserOf, alice: User, erin: User, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def first_erin(form: ViewForm, run: Run, by: User) -> SavedView:
        SavedView.objects.keep(run.team, "mine", "verdict=pass", by=erin, is_shared=True)
        return save_form(form, run, by)

    save_form = ViewForm.save
    monkeypatch.setattr(ViewForm, "save", first_erin)
    # A look beforehand finds nothing of what is kept at the same moment.
    monkeypatch.setattr(SavedViewQuerySet, "exists", lambda _: False)
    page = save(browser_of(alice), run, "mine", "?verdict=fail", shared=True)
    assert "The team has a view called mine already: choose another name." in page
    assert SavedView.objects.get().query == "verdict=pass"
    assert AuditEntry.objects.get(action="view.created").actor == erin


def test_of_two_people_who_remove_a_view_at_once_one_removes_it(
    browser_of: BrowserOf, alice: User, erin: User, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = SavedView.objects.keep(run.team, "mine", "", by=erin, is_shared=True)

    def first_erin(*asked: object) -> SavedView:
        found = saved_view_for(*asked)  # type: ignore[arg-type]
        SavedView.objects.get().drop(by=erin)
        return found

    saved_view_for = access.saved_view_for
    monkeypatch.setattr(access, "saved_view_for", first_erin)
    address = reverse("remove_view", args=[run.uuid, view.uuid])
    page = browser_of(alice).post(address, follow=True).text
    assert "The view mine was removed already." in page
    assert 'id="undo-1"' not in page
    assert AuditEntry.objects.get(action="view.removed").actor == erin


def test_who_may_not_remove_a_view(
    browser_of: BrowserOf, alice: User, bob: User, charlie: User, erin: User, run: Run
) -> None:
    own = SavedView.objects.keep(run.team, "own", "", by=bob, is_shared=False)
    shared = SavedView.objects.keep(run.team, "shared", "", by=alice, is_shared=True)
    assert remove(browser_of(alice), run, own) == 404
    assert remove(browser_of(charlie), run, own) == 404
    assert remove(browser_of(bob), run, shared) == 403
    assert remove(browser_of(erin), run, shared) == 302
    assert list(SavedView.objects.all()) == [own]


def test_a_stranger_keeps_nothing(browser_of: BrowserOf, charlie: User, run: Run) -> None:
    sent = {"name": "a", "query": ""}
    address = reverse("save_view", args=[run.uuid])
    assert browser_of(charlie).post(address, sent).status_code == 404
