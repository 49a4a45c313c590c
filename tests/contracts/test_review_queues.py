"""Real answers with people's verdicts: queues drawn on the page, with labels from a file."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any, Final

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from evalsite.templatetags.formatting import share
from scoring.engine.review import queues
from scoring.models import (
    Output,
    QueueOrder,
    Review,
    ReviewQueue,
    Run,
    RunScorer,
    Score,
    TaskReason,
    User,
)
from tests.conftest import MakeDataset, MakeOutputs
from tests.pages.runs.steps import BrowserOf
from tests.support.run_states import Definition, finished_run

SYSTEM: Final = "gpt35"
SAMPLE: Final = 300
SCORERS: Final[list[Definition]] = [
    ("includes", "includes", {"case_sensitive": False}),
    ("levenshtein", "levenshtein", {"case_sensitive": False}),
]

Labels = dict[str, bool]


@pytest.fixture
def rows(facts: Path) -> list[dict[str, Any]]:
    text = (facts / "data/evouna/evouna_NQ_open.json").read_text(encoding="utf-8")
    return [
        row | {"key": f"q{number}"}
        for number, row in enumerate(json.loads(text))
        if isinstance(row[f"judge_{SYSTEM}"], bool) and row[f"answer_{SYSTEM}"]
    ]


@pytest.fixture
def labels(rows: list[dict[str, Any]]) -> Labels:
    """By case key whether the people of the data set find the answer right."""
    return {row["key"]: row[f"judge_{SYSTEM}"] for row in rows}


@pytest.fixture
def run(rows: list[dict[str, Any]], make_dataset: MakeDataset, make_outputs: MakeOutputs) -> Run:
    cases = [
        {"key": row["key"], "input": row["question"], "expected": right[0], "references": right}
        for row in rows
        for right in [row["golden_answer"].split("/")]
    ]
    answers = [row[f"answer_{SYSTEM}"] for row in rows]
    return finished_run(make_outputs(make_dataset(cases), answers), *SCORERS, name=SYSTEM)


@pytest.fixture
def erins(browser_of: BrowserOf, erin: User) -> Client:
    return browser_of(erin)


def draw(client: Client, run: Run, person: User, order: QueueOrder, count: int) -> ReviewQueue:
    """A queue by the form of the page."""
    form = {
        "name": order.value,
        "order": order.value,
        "case_count": str(count),
        "reviewers": [str(person.pk)],
        "reviewers_per_case": "1",
    }
    answer = client.post(reverse("new_review_queue", args=[run.uuid]), form)
    assert answer.status_code == 302, answer.content
    return ReviewQueue.objects.get(name=order.value)


def keys_of(queue: ReviewQueue) -> list[str]:
    """The keys of its cases, in the order of its tasks."""
    tasks = queue.tasks.order_by("position")
    return list(tasks.values_list("output__case__key", flat=True))


def send(client: Client, run: Run, reviewer: str, labels: Labels) -> None:
    """Labels as a file on the page that imports reviews."""
    written = io.StringIO()
    sheet = csv.writer(written)
    sheet.writerow(["key", "annotator", "label"])
    sheet.writerows([key, reviewer, str(label).lower()] for key, label in labels.items())
    file = SimpleUploadedFile("labels.csv", written.getvalue().encode())
    before = Review.objects.count()
    page = client.post(reverse("run_reviews", args=[run.uuid]), {"file": file}).text
    assert "imported." in page  # no number of outputs that the person has yet to review
    assert Review.objects.count() == before + len(labels)


def includes_of(client: Client, run: Run) -> Any:
    """The calibration of the scorer `includes`, as the page shows it."""
    figures = client.get(reverse("run_calibration", args=[run.uuid])).context["figures"]
    return next(f.calibration for f in figures if f.calibration.scorer.name == "includes")


def test_a_random_sample_corrects_the_pass_rate_of_all(
    run: Run,
    labels: Labels,
    erin: User,
    erins: Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The interval holds the rate that people give to all the answers, which is known here."""
    monkeypatch.setattr(queues.secrets, "randbelow", lambda _: 20261123)
    queue = draw(erins, run, erin, QueueOrder.RANDOM, SAMPLE)
    drawn = keys_of(queue)
    assert (len(drawn), len(set(drawn)), queue.seed) == (SAMPLE, SAMPLE, 20261123)
    send(erins, run, erin.email, {key: labels[key] for key in drawn})
    assert not queue.tasks.filter(done_at=None).exists()
    page = erins.get(reverse("review_queue", args=[queue.uuid])).text
    assert f"You have reviewed all {SAMPLE} of your cases." in page

    calibration = includes_of(erins, run)
    assert calibration.table.n == SAMPLE
    rate = calibration.corrected.rate
    truth = sum(labels.values()) / len(labels)
    assert rate.interval[0] <= truth <= rate.interval[1]
    assert rate.is_narrower
    sampled = sum(labels[key] for key in drawn) / SAMPLE
    assert rate.labels.value == pytest.approx(sampled)
    own = RunScorer.objects.get(run=run, name="includes").summary.pass_rate
    assert own is not None
    assert abs(rate.value - truth) < abs(own - truth)
    text = erins.get(reverse("run_calibration", args=[run.uuid])).text
    assert share(rate.value) in text
    assert f"random sample: {SAMPLE} of {SAMPLE} reviewed" in " ".join(text.split())


def test_labels_of_informative_cases_are_no_sample(
    run: Run, labels: Labels, erin: User, erins: Client
) -> None:
    queue = draw(erins, run, erin, QueueOrder.VALUE, SAMPLE)
    scorer = RunScorer.objects.get(run=run, name="levenshtein")
    scores = Score.objects.filter(scorer=scorer).values_list("output__case__key", "score")
    distance = {
        key: round(abs(score - scorer.threshold), 9)
        for key, score in scores
        if score is not None and 0 < score < 1
    }
    near = [key for key, away in distance.items() if away <= 0.05]
    assert near
    tasks = queue.tasks.order_by("position")
    assert list(tasks.values_list("reason", flat=True)[: len(near)]) == [
        TaskReason.NEAR_THRESHOLD
    ] * len(near)
    first = [distance[key] for key in keys_of(queue)[: len(near)]]
    assert first == sorted(distance[key] for key in near)
    send(erins, run, erin.email, {key: labels[key] for key in keys_of(queue)})
    calibration = includes_of(erins, run)
    assert calibration.table.n == SAMPLE
    assert calibration.corrected is None
    assert "Not a random sample" in erins.get(reverse("run_calibration", args=[run.uuid])).text


def test_disagreements_are_those_of_the_labels(
    run: Run, rows: list[dict[str, Any]], labels: Labels, erins: Client, bob: User
) -> None:
    """People against a reader who looks for the wording of a right answer."""
    literal = {
        row["key"]: any(
            right.casefold() in row[f"answer_{SYSTEM}"].casefold()
            for right in row["golden_answer"].split("/")
        )
        for row in rows
    }
    send(erins, run, "EVOUNA", labels)
    send(erins, run, "Literal reader", literal)
    differ = {key for key, label in labels.items() if label != literal[key]}
    assert 0.02 < len(differ) / len(labels) < 0.3
    address = reverse("disagreements", args=[run.uuid])
    page = erins.get(address)
    assert page.context["open_count"] == len(differ)
    shown = [each.output.case.key for each, _ in page.context["open"]]
    assert set(shown) <= differ

    first, url = page.context["open"][0]
    verdict = "pass" if labels[first.output.case.key] else "fail"
    erins.post(url, {"verdict": verdict, "note": "", "seen": "0"})
    page = erins.get(address)
    assert (page.context["open_count"], page.context["decided_count"]) == (len(differ) - 1, 1)
    agreed = len(labels) - len(differ) + 1
    assert includes_of(erins, run).table.n == agreed
    assert Review.objects.of_run(run).count() == 2 * len(labels)
    assert Output.objects.filter(output_set=run.output_set).count() == len(labels)
