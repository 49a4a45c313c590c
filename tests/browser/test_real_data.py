"""Real files through a real browser and a real worker: uploaded, scored, looked at."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.urls import reverse
from playwright.sync_api import Locator, Page, expect
from pytest_django.fixtures import Settings

from scoring.models import Run, User
from tests.browser.walk import Walk, forgive_422
from tests.conftest import PASSWORD
from tests.support import oracles
from tests.support.database import link_database
from tests.support.fixtures.sites import Site
from tests.support.real_data import (
    GPT_4O,
    GPT_4O_DATES,
    GSM8K_RATES,
    RIGHT_ANSWER,
    Row,
    bfcl_path,
    csv_rows,
    gsm8k_path,
    jsonl_rows,
    truthfulqa_path,
    with_final_answers,
    write_jsonl,
)
from tests.support.waiting import DEADLINE_SECONDS

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("facts")]

SignIn = Callable[[User], None]

MINUS = "\N{MINUS SIGN}"
THIN_SPACE = "\N{NARROW NO-BREAK SPACE}"


@pytest.fixture
def site(transactional_db: None, settings: Settings, tmp_path: Path) -> Iterator[Site]:
    """Processes on the database and the spool of the live server."""
    folder = tmp_path / "site"
    (folder / "spool").mkdir(parents=True)
    settings.SPOOL_DIR = settings.FILE_UPLOAD_TEMP_DIR = folder / "spool"
    link_database(folder)
    made = Site(folder)
    yield made
    made.end()


@pytest.fixture
def walk(page: Page, site: Site, alice: User) -> Walk:
    """Somebody who has signed in through the form, while a worker is at work."""
    site.start("worker")
    page.goto("/")
    page.get_by_label("E-mail").fill(alice.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("main").get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Support")
    return Walk(page)


def shown_figures(page: Page, scorer: str) -> tuple[str, str]:
    """Mean and pass rate of a scorer as the run page sets them, without their intervals."""
    row = page.locator("#progress tbody tr").filter(has=page.get_by_role("link", name=scorer))
    mean, rate = (row.locator(f"td[data-label={cell}]").inner_text() for cell in ("mean", "pass"))
    return mean.partition(" [")[0], rate.partition(" [")[0]


def assert_figures(page: Page, scorer: str, scores: Sequence[float], threshold: float) -> None:
    """The page's figures are those of the second calculation, rounded as the page rounds."""
    mean, rate = shown_figures(page, scorer)
    places = len(mean.partition(".")[2])
    assert places >= 2
    assert mean == f"{oracles.mean(scores):.{places}f}"
    assert rate == f"{100 * oracles.pass_rate(scores, threshold):.1f}{THIN_SPACE}%"


@pytest.mark.long("a real worker imports a real file")
def test_truthfulqa_becomes_a_dataset_of_817_cases(walk: Walk, facts: Path) -> None:
    page = walk.page
    walk.upload_cases(truthfulqa_path(facts), "TruthfulQA")
    assert page.get_by_label("Best Answer", exact=True).input_value() == "expected"
    assert page.get_by_label("Correct Answers", exact=True).input_value() == "references"
    assert page.get_by_label("Several references").input_value() == ";"
    page.get_by_label("Incorrect Answers", exact=True).select_option("output")
    walk.check_rows()
    assert walk.found() == {
        "Rows": "817",
        "Cases": "817",
        "Outputs": "817",
        "Right answers": "references: up to 12 a case, in 817 of 817 cases",
        "Tags": "one a case, in 817 of 817 cases",
        "Rows with problems": "0",
        "Near duplicates": "19 inputs at least 90 % like an earlier one; they stay",
    }
    walk.import_rows()
    walk.is_at("TruthfulQA")
    expect(page.get_by_text("817 cases", exact=True)).to_be_visible()
    rows = csv_rows(truthfulqa_path(facts))
    walk.follow(rows[0]["Question"])
    expect(page.get_by_role("main")).to_contain_text(rows[0]["Best Answer"])


@pytest.mark.slow
def test_the_gsm8k_file_as_it_is_becomes_one_dataset_with_four_runs(
    walk: Walk, facts: Path
) -> None:
    pattern = r"A: -?[\d,.]+\s*$"
    walk.upload_cases(gsm8k_path(facts), "GSM8K as it is")
    walk.check_rows()
    assert walk.found()["Cases"] == "1,319"
    walk.import_rows()
    walk.make_scorer("Regular expression", "ends in a number", Pattern=pattern)
    walk.make_suite("form", ["ends in a number"])
    for model in GSM8K_RATES:
        walk.start_run("GSM8K as it is", model, "form")
        walk.wait_for_the_end()
        ends = [
            float(re.search(pattern, row[model]["solution"]) is not None)
            for row in jsonl_rows(gsm8k_path(facts))
        ]
        assert_figures(walk.page, "ends in a number", ends, 1.0)


@pytest.fixture
def solutions(facts: Path) -> list[Row]:
    return with_final_answers(jsonl_rows(gsm8k_path(facts)))


@pytest.mark.slow
def test_gsm8k_is_scored_in_four_runs_as_its_makers_did(
    walk: Walk,
    site: Site,
    facts: Path,
    solutions: list[Row],
    tmp_path: Path,
    complaints: list[str],
) -> None:
    page, raw = walk.page, jsonl_rows(gsm8k_path(facts))
    walk.upload_cases(write_jsonl(tmp_path / "gsm8k.jsonl", solutions), "GSM8K")
    walk.check_rows()
    assert walk.found().items() >= {f"Outputs of {model}": "1,319" for model in GSM8K_RATES}.items()
    walk.import_rows()
    config = json.dumps({"scorers": RIGHT_ANSWER})
    walk.make_scorer("All of", "right", "Edit as JSON", Config=config)
    forgive_422(complaints)  # nothing was in the form yet when it was tried
    walk.make_scorer("Levenshtein similarity", "close")
    walk.make_suite("final answers", ["right", "close"])

    stop_worker(site)
    runs = {model: walk.start_run("GSM8K", model, "final answers") for model in GSM8K_RATES}
    page.evaluate("window.stayed = true")
    expect(page.get_by_text("0 of 1,319 outputs scored")).to_be_visible()
    expect(page.get_by_text("No worker")).to_be_visible()
    site.start("worker")
    walk.wait_for_the_end()
    expect(page.locator("#cases tbody tr")).to_have_count(50)
    assert page.evaluate("window.stayed")  # all of this without loading the page again

    for model, url in runs.items():
        page.goto(url)
        walk.wait_for_the_end()
        labels = [float(row[model]["is_correct"]) for row in raw]
        assert_figures(page, "right", labels, 0.5)
        assert_figures(page, "close", closeness(solutions, model), 0.7)


def closeness(solutions: list[Row], model: str) -> list[float]:
    pairs = ((row["ground_truth"], row[model]["solution"]) for row in solutions)
    return [oracles.levenshtein_score(*pair) for pair in pairs]


def stop_worker(site: Site) -> None:
    """As Ctrl-C does it: nothing is left half done."""
    worker = site.processes[-1]
    worker.terminate()
    assert worker.wait(DEADLINE_SECONDS) == 0


def test_the_worst_case_shows_its_difference_and_its_arithmetic(
    page: Page, sign_in: SignIn, alice: User, solutions: list[Row], tmp_path: Path
) -> None:
    model = "175b_verification"
    path = write_jsonl(tmp_path / "gsm8k.jsonl", solutions)
    call_command("import", str(path), "--dataset", "GSM8K", stdout=StringIO())
    suite = tmp_path / "suite.json"
    suite.write_text(json.dumps({"scorers": [{"name": "close", "type": "levenshtein"}]}))
    given = ("--series", model, "--suite", str(suite))
    call_command("evaluate", "GSM8K", *given, stdout=StringIO())

    sign_in(alice)
    page.goto(reverse("run", args=[Run.objects.get().uuid]))
    page.locator("#cases thead").get_by_role("link", name="close").click()
    expect(page.locator("#cases th[aria-sort=ascending]")).to_have_text("close")
    page.locator("#cases tbody a").first.click()
    scores = closeness(solutions, model)
    worst, next_worst = sorted(range(len(scores)), key=scores.__getitem__)[:2]
    for step, number, place in (("", 1, worst), ("Next", 2, next_worst), ("Previous", 1, worst)):
        if step:
            page.get_by_role("link", name=f"{step} case").click()
        expect(page.locator(".sequence .number")).to_have_text(f"{number} of 1,319")
        assert_case(page, solutions[place], model)


def assert_case(page: Page, row: Row, model: str) -> None:
    """The page of a case holds its texts whole, and the sum that leads to its score."""
    expected, output = row["ground_truth"], row[model]["solution"]
    expect(text_of(page, "input")).to_have_text(row["question"], use_inner_text=False)
    for mode in ("words", "characters", "lines"):
        switch = page.get_by_role("navigation", name="Ways to compare")
        switch.get_by_role("link", name=mode).click()
        expect(switch.locator("[aria-current]")).to_have_text(mode)
        assert whole(page, "expected") == expected
        assert whole(page, "output") == output
    distance = oracles.levenshtein(expected.lower(), output.lower())
    longest = max(len(expected), len(output))
    score = f"{oracles.levenshtein_score(expected, output):g}"
    sum_of_it = f"1 {MINUS} {distance} / {longest} = {score} < 0.7 → fail"
    expect(page.locator(".why")).to_have_text(sum_of_it)


def text_of(page: Page, name: str) -> Locator:
    return page.locator(f"section[aria-labelledby={name}-title] .output")


def whole(page: Page, name: str) -> str:
    """One of the two texts that are compared, with its folds opened."""
    script = """(shown) => {
        const side = shown.cloneNode(true);
        side.querySelectorAll("summary").forEach((part) => part.remove());
        return side.textContent;
    }"""
    found: str = text_of(page, name).evaluate(script)
    return found


@pytest.mark.slow
def test_function_calls_of_two_dates_are_uploaded_and_scored(walk: Walk, facts: Path) -> None:
    page, cases = walk.page, jsonl_rows(bfcl_path(facts))
    walk.upload_cases(bfcl_path(facts), "BFCL")
    walk.check_rows()
    walk.import_rows()
    walk.make_scorer("JSON similarity", "leaves")
    walk.make_scorer("JSON match", "equal")
    walk.make_suite("calls", ["leaves", "equal"])
    for dated in GPT_4O_DATES:
        path = bfcl_path(facts, GPT_4O.format(dated))
        walk.upload_outputs(path, "BFCL", "gpt-4o", dated)
        walk.start_run("BFCL", path.stem, "calls")
        walk.wait_for_the_end()
        outputs = {row["id"]: row["output"] for row in jsonl_rows(path)}
        pairs = [(case["expected"], outputs[case["id"]]) for case in cases]
        similar = [oracles.json_similarity(*pair) for pair in pairs]
        assert_figures(page, "leaves", [score for score in similar if score is not None], 0.9)
        assert_figures(page, "equal", [oracles.json_match(*pair) for pair in pairs], 1.0)
    narrow(page, "leaves", "0.5", "0.89")
    place = next(n for n, score in enumerate(similar) if score and 0.5 <= score <= 0.89)
    assert_leaves(page, cases[place], outputs[cases[place]["id"]])


def narrow(page: Page, scorer: str, low: str, high: str) -> None:
    """To the first case whose score lies between."""
    page.get_by_label("of", exact=True).select_option(scorer)
    page.get_by_label("Score from").fill(low)
    page.get_by_label("Score to").fill(high)
    page.get_by_role("button", name="Filter").click()
    expect(page.get_by_role("list", name="Filters that are on")).to_be_visible()
    page.locator("#cases tbody a").first.click()


def assert_leaves(page: Page, case: Row, output: str) -> None:
    """Every leaf of what is expected has its line, and their credits make the score."""
    expect(page.get_by_role("heading", level=1)).to_have_text(case["id"])
    total = oracles.leaves(case["expected"])
    shown = page.locator("td[data-label=credit] .number").all_text_contents()
    assert len(shown) == total
    matched = oracles.matched(case["expected"], json.loads(output))
    assert sum(map(float, shown)) == pytest.approx(matched, abs=total * 0.00005)
    why = page.locator(".why").filter(has_text=f"/ {total} = ")
    expect(why).to_contain_text(f"{matched / total:.4f}".rstrip("0"))
