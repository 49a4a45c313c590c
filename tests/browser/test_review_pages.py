"""Questions written by mouse and by keys, and the pages of review on a phone and in the dark."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from scoring.core.questions import Questions
from scoring.engine.review.feedback import give_review
from scoring.engine.review.queues import QueuePlan, create_queue
from scoring.models import (
    FailureTag,
    Output,
    QuestionSet,
    QueueOrder,
    ReviewVerdict,
    Run,
    Team,
    User,
)
from tests.browser.actions import HANDS, Hand
from tests.browser.compare_steps import in_both_schemes
from tests.conftest import MakeDataset, MakeOutputs
from tests.engine.review.test_series_preferences import prefer
from tests.support.run_states import CLOSE, finished_run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

Check = Callable[[Page], None]
SignIn = Callable[[User], None]
CASES = 12


@pytest.fixture
def runs(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> list[Run]:
    """A run of each of three series."""
    cases = [{"key": f"q{n:03}", "input": f"Question {n}", "expected": "yes"} for n in range(CASES)]
    version = make_dataset(cases)
    return [
        finished_run(make_outputs(version, [f"{name} {n}" for n in range(CASES)], name), CLOSE)
        for name in ("gpt", "llama", "mistral")
    ]


@pytest.mark.parametrize("hand", HANDS)
def test_questions_are_written_and_asked(
    page: Page,
    sign_in: SignIn,
    erin: User,
    team: Team,
    runs: list[Run],
    is_accessible: Check,
    hand: Callable[[Page], Hand],
) -> None:
    sign_in(erin)
    person = hand(page)
    page.goto(reverse("review", args=[team.slug]))
    person.press(page.get_by_role("link", name="Questions", exact=True))
    in_both_schemes(page, is_accessible)
    person.press(page.get_by_role("link", name="Write questions"))
    person.write(page.get_by_label("Name"), "Tone")
    person.write(page.get_by_label("Question 1"), "Polite?")
    expect(page.get_by_label("Minimum").first).to_be_hidden()
    person.write(page.get_by_label("Choices").first, "yes\nno")
    in_both_schemes(page, is_accessible)
    person.press(page.get_by_role("button", name="Save questions"))
    expect(page.get_by_role("heading", name="Tone")).to_be_visible()
    page.goto(reverse("new_review_queue", args=[runs[0].uuid]))
    person.choose(page.get_by_label("Questions"), "Tone v1")
    person.press(page.get_by_role("button", name="Create queue"))
    expect(page.get_by_text("asks Tone v1")).to_be_visible()


def test_pages_of_review_fit_a_phone_and_the_dark(
    page: Page,
    sign_in: SignIn,
    erin: User,
    rita: User,
    team: Team,
    runs: list[Run],
    is_accessible: Check,
) -> None:
    asked = [{"text": "Polite?", "kind": "choice", "choices": ["yes", "no"]}]
    tone = QuestionSet.objects.publish(team, "Tone", Questions.parse(asked), by=erin)
    FailureTag.objects.create(team=team, name="harm", is_severe=True)
    run = runs[0]
    plan = QueuePlan("sample", [rita], CASES, QueueOrder.RANDOM, question_set=tone, is_pooled=True)
    queue = create_queue(run, plan, by=erin)
    for number, output in enumerate(Output.objects.filter(output_set=run.output_set)):
        verdict = ReviewVerdict.FAIL if number % 2 else ReviewVerdict.PASS
        answers = {tone.label: {"Polite?": "yes"}}
        give_review(run, output, verdict, by=rita, answers=answers)
    prefer(runs[0], runs[1], 7, rita, count=CASES)
    prefer(runs[1], runs[2], 6, rita, count=CASES)
    sign_in(erin)
    dataset = run.output_set.version.dataset
    for url, said in (
        (reverse("review_queue", args=[queue.uuid]), "All done"),
        (reverse("dataset_preferences", args=[dataset.uuid]), "never met"),
        (reverse("run_scorer_calibration", args=[run.uuid, 0]), "Fit to gate"),
        (reverse("failure_tags", args=[team.slug]), "severe"),
        (reverse("question_sets", args=[team.slug]), "yes · no"),
        (reverse("edit_question_set", args=[team.slug]) + "?name=Tone", "Saving makes version 2"),
    ):
        page.set_viewport_size({"width": 1280, "height": 800})
        page.goto(url)
        expect(page.get_by_text(said).first).to_be_visible()
        in_both_schemes(page, is_accessible)
        page.set_viewport_size({"width": 360, "height": 740})
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, url
