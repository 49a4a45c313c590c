"""Where people land, what a team's home shows, the search and the sample file."""

from __future__ import annotations

import csv
from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from evalsite.pages.home.views import MAX_LISTED
from evalsite.pages.uploads.sample import sample_csv
from evalsite.templatetags.formatting import NOTHING
from scoring.engine.jobs import lease
from scoring.engine.runs.latest_runs import latest_runs
from scoring.engine.runs.progress import NO_WORKER
from scoring.engine.search import LIMIT
from scoring.models import (
    Attempt,
    AttemptKind,
    DatasetVersion,
    Member,
    OutputSet,
    Run,
    RunState,
    Scorer,
    Shard,
    Suite,
    Team,
    User,
    Worker,
)
from tests.conftest import MakeDataset, MakeOutputs
from tests.pages.runs.steps import with_code
from tests.support.html import on_one_line
from tests.support.undone import undone

BrowserOf = Callable[[User], Client]
MakeRun = Callable[..., Run]
MAX_QUERIES = 17


@pytest.fixture
def outputs(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> OutputSet:
    return make_outputs(make_dataset([{"input": "1"}, {"input": "2"}]), ["a", "b"])


@pytest.fixture
def make_run(team: Team, outputs: OutputSet) -> MakeRun:
    """A run in some state; `counts` are pass, fail, error, skipped."""

    def make(name: str, state: RunState, counts: tuple[int, ...] = (), **more: Any) -> Run:
        names = ("pass_count", "fail_count", "error_count", "skipped_count")
        found = dict(zip(names, counts, strict=False))
        return Run.objects.create(
            team=team, output_set=outputs, name=name, state=state, **found, **more
        )

    return make


def shards(run: Run, *done: bool, size: int = 10) -> None:
    """An attempt in shards of `size` outputs, some of them done."""
    attempt = Attempt.objects.create(run=run, number=run.attempts.count() + 1)
    for number, is_done in enumerate(done):
        Shard.objects.create(
            attempt=attempt,
            number=number,
            first_output=0,
            last_output=0,
            output_count=size,
            done_at=timezone.now() if is_done else None,
        )


def home_of(browser: Client, **options: Any) -> str:
    return on_one_line(browser.get(reverse("team_home", args=["support"]), **options).text)


def test_the_start_page_leads_to_the_first_team(
    browser_of: BrowserOf, alice: User, team: Team
) -> None:
    Member.objects.create(user=alice, team=Team.objects.create(name="Zebra", slug="zebra"))
    assert browser_of(alice).get("/")["Location"] == "/teams/support/"


def test_the_start_page_leads_to_the_team_used_last(browser_of: BrowserOf, alice: User) -> None:
    zebra = Team.objects.create(name="Zebra", slug="zebra")
    member = Member.objects.create(user=alice, team=zebra)
    browser = browser_of(alice)
    browser.get("/teams/zebra/")
    assert browser.get("/")["Location"] == "/teams/zebra/"
    member.delete()
    assert browser.get("/")["Location"] == "/teams/support/"


def test_a_person_without_a_team_reads_what_to_do(browser_of: BrowserOf, db: None) -> None:
    answer = browser_of(User.objects.create_user("dora@example.org")).get("/")
    assert answer.status_code == 200
    assert "You are in no team yet" in answer.content.decode()


@pytest.mark.parametrize("name", ["team_home", "search"])
def test_a_stranger_gets_404_as_if_the_team_were_not_there(
    browser_of: BrowserOf, charlie: User, team: Team, name: str
) -> None:
    browser = browser_of(charlie)
    assert browser.get(reverse(name, args=[team.slug])).status_code == 404
    assert browser.get(reverse(name, args=["nowhere"])).status_code == 404


@pytest.mark.parametrize("url", ["/", "/teams/support/", "/teams/support/search/", "/sample.csv"])
def test_nothing_is_shown_to_the_anonymous(client: Client, team: Team, url: str) -> None:
    assert client.get(url)["Location"].startswith("/accounts/login/")


def test_an_empty_team_sees_the_steps_and_a_viewer_is_not_told_to_take_them(
    browser_of: BrowserOf, alice: User, bob: User
) -> None:
    edited, read = home_of(browser_of(alice)), home_of(browser_of(bob))
    assert reverse("new_upload", args=["support"]) in edited
    assert reverse("sample") in edited
    assert reverse("new_upload", args=["support"]) not in read
    assert "An editor of the team uploads" in read


def test_the_steps_are_ticked_off_and_end_with_the_first_run(
    browser_of: BrowserOf, alice: User, outputs: OutputSet, make_run: MakeRun, team: Team
) -> None:
    browser = browser_of(alice)
    assert home_of(browser).count("done</span>") == 1
    assert reverse("new_run", args=[outputs.version.dataset.uuid]) in home_of(browser)
    Scorer.objects.define(team, "same", "exact_match", {})
    assert home_of(browser).count("done</span>") == 2
    make_run("first", RunState.QUEUED)
    assert "Three steps" not in home_of(browser)


def test_runs_show_their_verdict_counts(
    browser_of: BrowserOf, bob: User, make_run: MakeRun
) -> None:
    make_run("week 46", RunState.FINISHED, (1041, 131, 9, 19), finished_at=timezone.now())
    html = home_of(browser_of(bob))
    for label, shown in [("pass", "1,041"), ("fail", "131"), ("error", "9"), ("skipped", "19")]:
        assert f'data-label="{label}">{shown}</td>' in html


def test_a_cancelled_run_shows_no_counts_rather_than_zeros(
    browser_of: BrowserOf, bob: User, make_run: MakeRun
) -> None:
    make_run("stopped", RunState.CANCELLED)
    assert f'data-label="pass">{NOTHING}</td>' in home_of(browser_of(bob))


def test_a_running_run_shows_how_far_its_present_attempt_is(
    browser_of: BrowserOf, bob: User, make_run: MakeRun
) -> None:
    run = make_run("again", RunState.RUNNING, lease_owner="elsewhere:1")
    Run.objects.update(lease_expires_at=timezone.now() + timedelta(minutes=1))
    shards(run, True, True, size=100)
    shards(run, True, False, False)
    html = home_of(browser_of(bob))
    assert 'max="30" value="10"' in html
    assert "10 of 30 outputs scored" in html
    assert str(run.output_set.version) in html
    assert "state-running" in html


def test_a_running_run_shows_its_pace_and_the_time_left_as_its_own_page_does(
    browser_of: BrowserOf, bob: User, make_run: MakeRun
) -> None:
    run = make_run("w46", RunState.RUNNING, lease_owner="elsewhere:1")
    Run.objects.update(lease_expires_at=timezone.now() + timedelta(minutes=1))
    shards(run, True, True, False, False, size=600)
    first, second = Shard.objects.filter(done_at__isnull=False).order_by("number")
    for shard, seconds_ago in ((first, 12), (second, 2)):
        shard.done_at = timezone.now() - timedelta(seconds=seconds_ago)
        shard.save()
    browser = browser_of(bob)
    pages = home_of(browser), on_one_line(browser.get(reverse("run", args=[run.uuid])).text)
    for page in pages:
        assert "<span>60 a second, under a minute left</span>" in page
        assert "<span>1,200 of 2,400 outputs scored</span>" in page


def test_a_run_that_makes_its_outputs_says_so(
    browser_of: BrowserOf, bob: User, make_run: MakeRun
) -> None:
    run = make_run("w46", RunState.RUNNING)
    shards(run, True, False)
    Attempt.objects.update(kind=AttemptKind.GENERATE)
    html = home_of(browser_of(bob))
    assert "<span>10 of 20 outputs made</span>" in html
    assert 'aria-label="w46: outputs made"' in html


@pytest.mark.parametrize("count", [1, 5])
def test_the_latest_runs_take_three_queries_however_many_they_are(
    team: Team, make_run: MakeRun, count: int, django_assert_num_queries: Any
) -> None:
    for number in range(count):
        shards(make_run(f"w{number}", RunState.RUNNING), True, False)
        make_run(f"ended {number}", RunState.FINISHED)
        make_run(f"put away {number}", RunState.FINISHED, archived_at=timezone.now())
    with django_assert_num_queries(3):
        latest = latest_runs(team, 3)
    newest = list(reversed(range(count)))[:3]
    assert [now.run.name for now in latest.running] == [f"w{number}" for number in newest]
    assert [run.name for run in latest.ended] == [f"ended {number}" for number in newest]


def test_a_run_that_nobody_works_on_says_why(
    browser_of: BrowserOf, bob: User, make_run: MakeRun
) -> None:
    make_run("waiting", RunState.QUEUED)
    browser = browser_of(bob)
    alarmed = home_of(browser)
    assert with_code(NO_WORKER) in alarmed
    assert "state-stuck" in alarmed
    now = timezone.now()
    Worker.objects.create(name=lease.own_name(), started_at=now, seen_at=now)
    html = home_of(browser)
    assert with_code(NO_WORKER) not in html
    assert "waiting for the worker" in html
    assert "state-stuck" not in html


def test_the_page_asks_again_until_the_last_run_has_ended(
    browser_of: BrowserOf, bob: User, make_run: MakeRun
) -> None:
    run = make_run("going", RunState.RUNNING)
    browser, headers = browser_of(bob), {"HX-Request": "true", "HX-Target": "runs"}
    live = home_of(browser, headers=headers)
    assert live.lstrip().startswith('<div id="runs" hx-get="/teams/support/"')
    assert "<html" not in live
    run.state = RunState.FINISHED
    run.save()
    ended = home_of(browser, headers=headers)
    assert "hx-get" not in ended
    assert "going" in ended


def test_another_teams_runs_and_datasets_stay_there(
    browser_of: BrowserOf, charlie: User, make_run: MakeRun
) -> None:
    make_run("secret run", RunState.FINISHED)
    browser = browser_of(charlie)
    home = browser.get("/", follow=True).content.decode()
    found = browser.get("/teams/elsewhere/search/?q=s").content.decode()
    for text in ("secret run", "Answers", "support"):
        assert text not in home + found


def test_the_search_finds_by_name(
    browser_of: BrowserOf, bob: User, team: Team, make_run: MakeRun, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[str, set[str]]] = [
        ("answ", {"Answers"}),
        ("WEEK", {"week 46"}),
        ("e", {"Answers", "week 46", "same", "release"}),
        ("rele", {"release"}),
        ("%", set()),
        ("nothing like it", set()),
        ("  ", set()),
        ("x" * 300, set()),
    ]
    for text, found in cases:
        with subtests.test(text=text, found=found), undone():
            make_run("week 46", RunState.FINISHED)
            same = Scorer.objects.define(team, "same", "exact_match", {})
            Suite.objects.define(team, "release", [(same, None)])
            answer = browser_of(bob).get(reverse("search", args=["support"]), {"q": text})
            seen = answer.context["found"]
            assert {
                row.name for row in [*seen.datasets, *seen.runs, *seen.scorers, *seen.suites]
            } == found


@pytest.mark.parametrize(("count", "is_cut"), [(LIMIT, False), (LIMIT + 1, True)])
def test_the_search_says_that_it_shows_not_all(
    browser_of: BrowserOf, bob: User, team: Team, count: int, is_cut: bool
) -> None:
    for n in range(count):
        Suite.objects.define(team, f"release {n}", [])
    html = on_one_line(browser_of(bob).get("/teams/support/search/?q=rel").text)
    assert f"{LIMIT} suites" in html
    assert (f"At most {LIMIT} of each kind are shown" in html) == is_cut


def test_a_dataset_that_is_still_loading_is_not_found(
    browser_of: BrowserOf, bob: User, team: Team
) -> None:
    dataset = team.datasets.create(name="half")
    DatasetVersion.with_loading.create(dataset=dataset)
    html = browser_of(bob).get("/teams/support/search/?q=half").content.decode()
    assert "Nothing found" in html


def test_the_sample_is_a_file_that_can_be_uploaded(
    browser_of: BrowserOf, bob: User, tmp_path: Any
) -> None:
    from scoring.core.files import detect_format
    from scoring.core.files.columns.guess import guess_mapping

    answer = browser_of(bob).get(reverse("sample"))
    assert answer["Content-Disposition"] == 'attachment; filename="evalsite-sample.csv"'
    path = tmp_path / "sample.csv"
    path.write_bytes(answer.content)
    detected = detect_format(path)
    mapping = guess_mapping(detected.columns, detected.sample)
    assert (mapping.id, mapping.input, mapping.expected) == ("id", "question", "expected")
    assert (mapping.tags, mapping.tags_separator) == (("tags",), ",")
    assert set(mapping.labels.values()) == {"small model", "large model"}


def test_the_sample_has_distinct_ids_and_no_empty_cell() -> None:
    rows = list(csv.DictReader(StringIO(sample_csv())))
    assert len({row["id"] for row in rows}) == len(rows) == 10
    assert all(cell.strip() for row in rows for cell in row.values())


@pytest.mark.parametrize("count", [1, 50])
def test_home_and_search_cost_the_same_however_much_there_is(
    browser_of: BrowserOf,
    alice: User,
    team: Team,
    make_run: MakeRun,
    make_dataset: MakeDataset,
    django_assert_max_num_queries: DjangoAssertNumQueries,
    count: int,
) -> None:
    for n in range(count):
        make_run(f"ended {n}", RunState.FINISHED)
        shards(make_run(f"going {n}", RunState.RUNNING), True, False)
        make_dataset([{"input": "1"}], name=f"dataset {n}")
        Scorer.objects.define(team, f"scorer {n}", "exact_match", {})
    browser = browser_of(alice)
    home_of(browser)
    for url in (reverse("team_home", args=["support"]), "/teams/support/search/?q=e", "/"):
        with django_assert_max_num_queries(MAX_QUERIES):
            browser.get(url)
    assert home_of(browser).count("10 of 20 outputs") == min(count, MAX_LISTED)


@pytest.mark.slow
def test_the_demo_is_loaded_by_a_button_and_waits_for_the_worker(
    browser_of: BrowserOf, alice: User, team: Team
) -> None:
    browser = browser_of(alice)
    assert "Load the demo" in browser.get(reverse("team_home", args=[team.slug])).text
    answer = browser.post(reverse("load_demo"))
    assert answer["Location"] == reverse("team_home", args=["demo"])
    assert Run.objects.filter(team__slug="demo", state="queued").count() == 36
    assert "Load the demo" not in browser.get(reverse("team_home", args=[team.slug])).text


@pytest.mark.slow
def test_the_demo_somebody_else_loaded_stays_theirs(
    browser_of: BrowserOf, alice: User, charlie: User
) -> None:
    browser_of(alice).post(reverse("load_demo"))
    assert browser_of(charlie).post(reverse("load_demo")).status_code == 404
    assert Run.objects.filter(team__slug="demo").count() == 36


def test_looking_at_the_demo_address_loads_nothing(browser_of: BrowserOf, alice: User) -> None:
    assert browser_of(alice).get(reverse("load_demo")).status_code == 405
    assert not Team.objects.filter(slug="demo").exists()
