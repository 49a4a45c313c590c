"""What waits for a person on the home of the team: theirs alone, and only while it waits."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from scoring.engine.review.feedback import add_comment
from scoring.engine.review.queues import QueuePlan, close_queue, create_queue
from scoring.models import (
    Correction,
    Notice,
    Output,
    Review,
    ReviewVerdict,
    Run,
    Scorer,
    Suite,
    SuiteProposal,
    Team,
    ThresholdProposal,
    User,
)

BrowserOf = Callable[[User], Client]
TITLE = "Waiting for you"


@pytest.fixture
def home(team: Team, browser_of: BrowserOf) -> Callable[[User], str]:
    url = reverse("team_home", args=[team.slug])
    return lambda user: str(browser_of(user).get(url).text)


def test_queues_are_listed_by_their_date_until_they_are_done_or_closed(
    home: Callable[[User], str], run: Run, rita: User, alice: User
) -> None:
    today = timezone.localdate()
    for name, days in (("undated", None), ("later", 9), ("sooner", 2)):
        due = None if days is None else today + timedelta(days=days)
        create_queue(run, QueuePlan(name, [rita], 4, due_on=due), by=alice)
    page = home(rita)
    assert page.index("sooner") < page.index("later") < page.index("undated")
    assert "4 to review" in page
    assert TITLE not in home(alice)
    close_queue(run.review_queues.get(name="sooner"), alice)
    assert "sooner" not in home(rita)
    for output in Output.objects.all():
        Review.objects.record(run, output, ReviewVerdict.PASS, by=rita)
    assert TITLE not in home(rita)


def test_a_mention_leads_to_its_case_until_it_is_read(
    home: Callable[[User], str], run: Run, rita: User, alice: User
) -> None:
    output = Output.objects.select_related("case").get(case__position=2)
    add_comment(run, output, "@rita, why?", by=alice)
    page = home(rita)
    assert f'href="/runs/{run.uuid}/cases/2/">alice@example.org mentioned you on' in page
    assert TITLE not in home(alice)
    Notice.objects.filter(user=rita).mark_read()
    assert TITLE not in home(rita)


def test_corrections_of_others_wait_for_editors(
    home: Callable[[User], str], run: Run, rita: User, alice: User, browser: Client
) -> None:
    version = run.output_set.version
    Correction.objects.create(
        dataset=version.dataset, base=version, key="q1", expected_json='"a"', author=alice
    )
    assert TITLE not in home(rita)
    assert TITLE not in home(alice)
    erin = User.objects.get(email="erin@example.org")
    page = home(erin)
    assert "alice@example.org proposes another expected value" in page
    assert reverse("dataset_corrections", args=[version.dataset.uuid]) in page
    assert browser.get("/").status_code == 302


def test_proposals_wait_for_administrators_alone(
    home: Callable[[User], str], team: Team, rita: User, alice: User
) -> None:
    close = Scorer.objects.define(team, "close", "levenshtein", {})
    suite = Suite.objects.define(team, "release", [(close, 0.75)])
    SuiteProposal.objects.propose(suite, "name: release", "release.yaml", None)
    assert "A command proposes other thresholds" in home(alice)
    assert TITLE not in home(rita)


def test_thresholds_that_people_propose_are_linked(
    home: Callable[[User], str], team: Team, rita: User, alice: User
) -> None:
    close = Scorer.objects.define(team, "close", "levenshtein", {})
    suite = Suite.objects.define(team, "release", [(close, 0.75)])
    for of_suite in (suite, None):
        ThresholdProposal.objects.propose(
            team, of_suite, {close: 0.5}, by=rita, rationale="Too strict."
        )
    page = home(alice)
    assert page.count("rita@example.org proposes other thresholds") == 2
    assert reverse("suite", args=[suite.uuid]) in page
    assert f'{reverse("scorer_threshold", args=[close.uuid])}">default of close<' in page
    assert TITLE not in home(rita)
