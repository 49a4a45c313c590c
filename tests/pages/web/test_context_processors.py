"""The frame around every page: theme, teams, links that exist, and how htmx is set."""

from __future__ import annotations

import html
import json
import re

import pytest
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.test import RequestFactory
from django.urls import path

from evalsite.pages.web.context_processors import page_frame
from scoring.models import Member, Team, User


def _empty(request: HttpRequest, slug: str = "") -> HttpResponse:
    return HttpResponse(slug)


# The names the frame links to; the pages behind them have their own tests.
urlpatterns = [
    path("", _empty, name="home"),
    path("teams/<slug>/", _empty, name="team_home"),
    path("teams/<slug>/datasets/", _empty, name="datasets"),
    path("teams/<slug>/runs/", _empty, name="runs"),
    path("teams/<slug>/compare/", _empty, name="compare"),
    path("teams/<slug>/drift/", _empty, name="team_drift"),
    path("teams/<slug>/review/", _empty, name="review"),
    path("teams/<slug>/scorers/", _empty, name="scorers"),
    path("teams/<slug>/search/", _empty, name="search"),
    path("login/", _empty, name="account_login"),
    path("logout/", _empty, name="account_logout"),
    path("profile/", _empty, name="profile"),
    path("teams/<slug>/members/", _empty, name="members"),
    path("new_team/", _empty, name="new_team"),
    path("help/", _empty, name="scorer_types"),
    path("api/", _empty, name="api_docs"),
]
pytestmark = pytest.mark.urls(__name__)


@pytest.fixture
def alice(db: None) -> User:
    return User.objects.create_user("alice@example.org", "a long password")


def team_of(user: User, name: str) -> Team:
    team = Team.objects.create(name=name, slug=name.lower())
    Member.objects.create(team=team, user=user)
    return team


def page(path: str = "/", user: User | None = None, **context: object) -> str:
    request = RequestFactory().get(path)
    if user:
        request.user = user
    return render_to_string("base.html", context, request)


@pytest.mark.parametrize(
    ("cookie", "theme"),
    [("", ""), ("light", "light"), ("dark", "dark"), ("system", ""), ('"><script>', "")],
)
def test_only_a_known_theme_reaches_the_page(cookie: str, theme: str) -> None:
    request = RequestFactory().get("/")
    request.COOKIES["theme"] = cookie
    assert page_frame(request)["theme"] == theme


def test_a_stranger_sees_no_team(db: None) -> None:
    team_of(User.objects.create_user("bob@example.org", "a long password"), "Search")
    assert list(page_frame(RequestFactory().get("/"))["teams"]) == []


def test_a_person_sees_the_teams_they_are_in(alice: User) -> None:
    team = team_of(alice, "Support")
    Team.objects.create(name="Search", slug="search")
    request = RequestFactory().get("/")
    request.user = alice
    assert list(page_frame(request)["teams"]) == [team]


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("/teams/support/runs/", "runs"),
        ("/teams/runs/datasets/upload/", "datasets"),
        ("/teams/support/suites/new/", "scorers"),
        ("/uploads/17/", "datasets"),
        ("/datasets/17/drift/", "datasets"),
        ("/runs/17/cases/3/", "runs"),
        ("/suites/17/edit/", "scorers"),
        ("/scorers/17/", "scorers"),
    ],
)
def test_the_bar_marks_the_part_of_the_site_one_is_in(alice: User, path: str, part: str) -> None:
    text = page(path, alice, team=team_of(alice, "Support"))
    marked = re.findall(r'<a href="([^"]*)" aria-current="true"', text)
    assert marked == [f"/teams/support/{part}/"] * 2  # on narrow screens the bar is folded


@pytest.mark.parametrize("path", ["/teams/runs/", "/teams/support/alerts/", "/help/scorers/", "/"])
def test_the_bar_marks_no_part_elsewhere(alice: User, path: str) -> None:
    assert 'aria-current="true"' not in page(path, alice, team=team_of(alice, "Support"))


def test_without_a_team_the_bar_has_no_dead_links(alice: User) -> None:
    text = page("/", alice)
    assert 'class="bar-nav"' not in text
    assert 'role="search"' not in text


def test_one_team_needs_no_menu_of_teams(alice: User) -> None:
    team = team_of(alice, "Support")
    assert '<details class="menu bar-team">' not in page("/", alice, team=team)
    team_of(alice, "Search")
    assert '<details class="menu bar-team">' in page("/", alice, team=team)


def test_signing_out_is_a_post_with_a_token(alice: User) -> None:
    text = page("/", alice)
    form = text[text.index('action="/logout/"') :]
    assert "csrfmiddlewaretoken" in form[: form.index("</form>")]


def test_a_team_name_is_text(alice: User) -> None:
    text = page("/", alice, team=Team(name="<b>x</b>", slug="x"))
    assert "<b>x</b>" not in text
    assert "&lt;b&gt;x" in text


def test_htmx_runs_no_code_and_swaps_invalid_forms() -> None:
    found = re.search(r"name=\"htmx-config\"\s+content='([^']*)'", page())
    assert found
    config = json.loads(html.unescape(found[1]))
    handling = {rule["code"]: rule["swap"] for rule in config["responseHandling"]}
    assert config["allowEval"] is config["includeIndicatorStyles"] is False
    assert config["historyCacheSize"] == 0
    assert config["scrollIntoViewOnBoost"] is False
    assert config["historyRestoreAsHxRequest"] is False
    assert handling == {"204": False, "[23]..": True, "409|422": True, "[45]..": False}


@pytest.mark.parametrize(
    "name",
    ["400.html", "403.html", "403_csrf.html", "404.html", "408.html", "500.html", "507.html"],
)
def test_a_problem_page_needs_neither_person_nor_database(name: str) -> None:
    text = render_to_string(name)
    assert f'<p class="code-number">{name[:3]}</p>' in text
    assert text.count("<h1>") == 1
