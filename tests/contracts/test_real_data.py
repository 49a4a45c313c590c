"""Real files through the commands: what a run stores is what plain Python works out again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from scoring.models import (
    Dataset,
    DatasetVersion,
    Output,
    OutputSet,
    Run,
    RunSummary,
    Score,
    Verdict,
)
from tests.support import oracles
from tests.support.real_data import (
    GPT_4O,
    GPT_4O_DATES,
    GSM8K_RATES,
    LAST_LINE,
    RIGHT_ANSWER,
    Row,
    bfcl_path,
    csv_rows,
    gsm8k_path,
    jsonl_rows,
    truthfulqa_path,
    with_final_answers,
    write_csv,
    write_jsonl,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("team")]

RIGHT_ANSWERS = "Correct Answers"  # a column of TruthfulQA
COLUMNS = ("Best Answer", RIGHT_ANSWERS, "Incorrect Answers")
SAMPLE = 60  # every so many cases, where a plain table of every pair of texts would take minutes


def import_file(path: Path, dataset: str, *words: str) -> None:
    call_command("import", str(path), "--dataset", dataset, *words, stdout=StringIO())


def evaluate(dataset: str, suite: Path, *words: str) -> Run:
    """The run that was made; the command says of it what is stored."""
    out = StringIO()
    call_command("evaluate", dataset, "--suite", str(suite), "--json", *words, stdout=out)
    said = json.loads(out.getvalue())
    run = Run.objects.get(uuid=said["id"])
    for scorer in said["scorers"]:
        stored = RunSummary.objects.get(scorer__run=run, scorer__name=scorer["name"])
        assert (scorer["mean"], scorer["pass_rate"]) == (stored.mean, stored.pass_rate)
    return run


def suite_file(folder: Path, *scorers: Mapping[str, Any]) -> Path:
    path = folder / "suite.json"
    path.write_text(json.dumps({"name": "release", "scorers": scorers}), encoding="utf-8")
    return path


def right_answers(row: Row) -> list[str]:
    """The answers of a TruthfulQA row that are right beside its best one."""
    parts = [part.strip() for part in row[RIGHT_ANSWERS].split(";")]
    return list(filter(None, parts))


def scores_of(run: Run, name: str) -> list[Score]:
    """One scorer's scores in the order of the cases."""
    found = Score.objects.filter(scorer__run=run, scorer__name=name)
    return list(found.order_by("output__case__position"))


def assert_scores(run: Run, name: str, wanted: Sequence[float]) -> None:
    """Each case's score, the stored mean and pass rate are those of the second calculation."""
    assert [score.score for score in scores_of(run, name)] == pytest.approx(wanted, abs=1e-9, rel=0)
    summary = RunSummary.objects.select_related("scorer").get(scorer__run=run, scorer__name=name)
    assert summary.n == summary.scored == len(wanted)
    assert summary.errors == summary.skipped == 0
    assert summary.mean == pytest.approx(oracles.mean(wanted), abs=1e-9, rel=0)
    rate = oracles.pass_rate(wanted, summary.scorer.threshold)
    assert summary.pass_rate == pytest.approx(rate, abs=1e-9, rel=0)


def assert_verdicts(run: Run, passes: Iterable[bool]) -> None:
    """A case passes where every scorer passes it."""
    verdicts = run.verdicts.order_by("position").values_list("verdict", flat=True)
    assert [verdict == Verdict.PASS for verdict in verdicts] == list(passes)
    assert (run.error_count, run.skipped_count) == (0, 0)


@pytest.mark.parametrize(
    ("column", "step"),
    [
        ("Incorrect Answers", SAMPLE),
        *(pytest.param(column, 1, marks=pytest.mark.slow) for column in COLUMNS),
    ],
)
def test_truthfulqa_is_scored_as_plain_python_scores_it(
    facts: Path, tmp_path: Path, column: str, step: int
) -> None:
    path = write_csv(tmp_path / "truthfulqa.csv", csv_rows(truthfulqa_path(facts))[::step])
    mapped = ("--map", "expected=Best Answer", "--map", f"output={column}")
    import_file(path, "TruthfulQA", *mapped)
    suite = suite_file(
        tmp_path,
        {"type": "includes"},
        {"type": "exact_match"},
        {"type": "levenshtein", "threshold": 0.5},
    )
    run = evaluate("TruthfulQA", suite)
    rows = csv_rows(path)
    outputs = [row[column] for row in rows]
    # The file's list of right answers becomes the references, unless it is the output.
    references = [[] if column == RIGHT_ANSWERS else right_answers(row) for row in rows]
    answers = [[row["Best Answer"], *more] for row, more in zip(rows, references, strict=True)]
    pairs = list(zip(answers, outputs, strict=True))
    included = [float(any(answer in output for answer in right)) for right, output in pairs]
    equal = [float(output in right) for right, output in pairs]
    close = [max(oracles.levenshtein_score(each, out) for each in right) for right, out in pairs]
    for name, wanted in (("includes", included), ("exact_match", equal), ("levenshtein", close)):
        assert_scores(run, name, wanted)
    scores = zip(included, equal, close, strict=True)
    assert_verdicts(run, (i == e == 1 and c >= 0.5 for i, e, c in scores))


def test_the_right_answers_of_truthfulqa_are_its_references(facts: Path) -> None:
    path = truthfulqa_path(facts)
    import_file(path, "TruthfulQA")
    cases = DatasetVersion.objects.get().cases.order_by("position")
    for case, row in zip(cases, csv_rows(path), strict=True):
        assert (case.expected, case.references) == (row["Best Answer"], right_answers(row))


@pytest.mark.parametrize("step", [SAMPLE, pytest.param(1, marks=pytest.mark.slow)])
def test_gsm8k_is_one_dataset_with_four_runs(facts: Path, tmp_path: Path, step: int) -> None:
    path = write_jsonl(tmp_path / "gsm8k.jsonl", jsonl_rows(gsm8k_path(facts))[::step])
    import_file(path, "GSM8K")
    suite = suite_file(
        tmp_path,
        {"name": "an answer", "type": "regex", "config": {"pattern": LAST_LINE, "flags": "m"}},
        {"name": "works it out", "type": "includes", "config": {"values": ["<<", ">>"]}},
        {"name": "word for word", "type": "exact_match", "config": {"trim": True}},
        {"name": "close", "type": "levenshtein"},
    )
    rows = jsonl_rows(path)
    for model in GSM8K_RATES:
        run = evaluate("GSM8K", suite, "--series", model)
        pairs = [(row["ground_truth"], row[model]["solution"]) for row in rows]
        outputs = [output for _, output in pairs]
        assert_scores(run, "an answer", [float(has_last_line(output)) for output in outputs])
        assert_scores(run, "works it out", [float("<<" in o and ">>" in o) for o in outputs])
        assert_scores(run, "word for word", [float(e.strip() == o.strip()) for e, o in pairs])
        assert_sample(run, "close", pairs, SAMPLE // step)
    assert (Dataset.objects.count(), OutputSet.objects.count(), Run.objects.count()) == (1, 4, 4)


def assert_sample(run: Run, name: str, pairs: Sequence[tuple[str, str]], every: int) -> None:
    """Some of the scores are those of the textbook, and all of them make the stored figures."""
    scores = scores_of(run, name)
    for score, pair in list(zip(scores, pairs, strict=True))[::every]:
        assert score.score == oracles.levenshtein_score(*pair)
    assert_scores(run, name, [score.score or 0.0 for score in scores])


def has_last_line(output: str) -> bool:
    """Whether a line is `A: ` and a number, without a regular expression."""
    numbers = (line.removeprefix("A: ") for line in output.split("\n") if line[:3] == "A: ")
    digits = (number.removeprefix("-") for number in numbers)
    return any(text and set(text) <= set("0123456789.") for text in digits)


def test_the_known_rates_of_correct_solutions_come_out(facts: Path, tmp_path: Path) -> None:
    """Within 0.3 points of the labels. Measured: not one of the 5,276 verdicts differs."""
    rows = jsonl_rows(gsm8k_path(facts))
    import_file(write_jsonl(tmp_path / "gsm8k.jsonl", with_final_answers(rows)), "GSM8K")
    suite = suite_file(
        tmp_path, {"name": "right", "type": "all", "config": {"scorers": RIGHT_ANSWER}}
    )
    for model, known in GSM8K_RATES.items():
        run = evaluate("GSM8K", suite, "--series", model)
        labels = [row[model]["is_correct"] for row in rows]
        assert 100 * sum(labels) / len(labels) == pytest.approx(known, abs=0.005)
        summary = RunSummary.objects.get(scorer__run=run, scorer__name="right")
        assert summary.pass_rate is not None
        assert abs(100 * summary.pass_rate - known) <= 0.3
        assert [score.score for score in scores_of(run, "right")] == labels
        assert_verdicts(run, labels)


@pytest.mark.parametrize(
    "dated",
    [GPT_4O_DATES[0], *(pytest.param(d, marks=pytest.mark.slow) for d in GPT_4O_DATES[1:])],
)
def test_function_calls_are_scored_as_plain_python_scores_them(
    facts: Path, tmp_path: Path, dated: str
) -> None:
    import_file(bfcl_path(facts), "BFCL")
    suite = suite_file(tmp_path, {"type": "json_similarity"}, {"type": "json_match"})
    path = bfcl_path(facts, GPT_4O.format(dated))
    given = ("--outputs", str(path), "--series", "gpt-4o", "--dated", dated)
    run = evaluate("BFCL", suite, *given)
    outputs = {row["id"]: row["output"] for row in jsonl_rows(path)}
    pairs = [(row["expected"], outputs[row["id"]]) for row in jsonl_rows(bfcl_path(facts))]
    similar = [oracles.json_similarity(*pair) for pair in pairs]
    equal = [oracles.json_match(*pair) for pair in pairs]
    assert_scores(run, "json_similarity", [score for score in similar if score is not None])
    assert_scores(run, "json_match", equal)
    assert_verdicts(run, (score == 1 for score in equal))


def test_dates_latencies_and_tokens_are_kept(facts: Path, tmp_path: Path) -> None:
    import_file(bfcl_path(facts), "BFCL")
    suite = suite_file(tmp_path, {"type": "json_match"})
    for dated in GPT_4O_DATES:
        path = bfcl_path(facts, GPT_4O.format(dated))
        given = ("--outputs", str(path), "--series", "gpt-4o", "--dated", dated)
        run = evaluate("BFCL", suite, *given)
        assert run.output_set.series == "gpt-4o"
        assert run.output_set.dated == datetime.fromisoformat(dated).replace(tzinfo=UTC)
        known = {row["id"]: row for row in jsonl_rows(path)}
        for output in Output.objects.filter(output_set=run.output_set).select_related("case"):
            row = known.pop(output.case.key)
            assert output.latency_ms == pytest.approx(row["latency_s"] * 1000)
            assert (output.tokens_in, output.tokens_out) == (
                row["input_tokens"],
                row["output_tokens"],
            )
        assert not known
