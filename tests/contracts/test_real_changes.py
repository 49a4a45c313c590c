"""Real models on two dates: what broke and was fixed equals a direct count over the files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from scoring.engine.compare.comparison import compare_runs
from scoring.engine.compare.figures import Figures
from scoring.models import Run
from scoring.models.case_paging import CasePosition
from scoring.models.pairs.pairs import Pairs
from scoring.models.pairs.rows import PairFilters, PairKind
from tests.contracts.test_real_data import evaluate, import_file, suite_file
from tests.support import oracles
from tests.support.real_data import GPT_4O_DATES, bfcl_path, jsonl_rows, write_jsonl

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("team")]

MODELS = [
    "claude-3-haiku-20240307-FC",
    "google_gemma-7b-it",
    "gpt-4-0125-preview-FC",
    "gpt-4o-2024-05-13-FC",
    "meta-llama_Meta-Llama-3-8B-Instruct",
]
SLOW_MODELS = [pytest.param(model, marks=pytest.mark.slow) for model in MODELS[1:]]
#: broke and fixed by the benchmark's own labels of what is valid.
LABELLED = dict(zip(MODELS, [(11, 11), (118, 116), (11, 28), (23, 26), (108, 122)], strict=True))

Outputs = Mapping[str, Mapping[str, Any]]
Passes = Callable[[dict[str, Any], str], bool]


@pytest.fixture
def cases(facts: Path) -> dict[str, dict[str, Any]]:
    """The cases by key, imported."""
    import_file(bfcl_path(facts), "BFCL")
    return {row["id"]: row for row in jsonl_rows(bfcl_path(facts))}


def files(facts: Path, model: str) -> list[Path]:
    return [bfcl_path(facts, f"run_{model}_{dated}.jsonl") for dated in GPT_4O_DATES]


def counted(
    cases: Mapping[str, dict[str, Any]], outputs: list[Outputs], passes: Passes
) -> tuple[list[str], list[str]]:
    """The keys of what broke and what was fixed, in the order of the cases."""
    before, after = (
        {key: passes(case, of[key]["output"]) for key, case in cases.items()} for of in outputs
    )
    broke = [key for key in cases if before[key] and not after[key]]
    return broke, [key for key in cases if after[key] and not before[key]]


def is_call(output: str) -> bool:
    """Whether the text begins with a name and a bracket, without a regular expression."""
    name, bracket, _ = output.removeprefix("[").partition("(")
    return bool(bracket) and all(part.isidentifier() for part in name.split("."))


CALL = r"^\[?[A-Za-z_]\w*(\.[A-Za-z_]\w*)*\("
SCORERS: list[dict[str, Any]] = [
    {"type": "json_match"},
    {"name": "in a block", "type": "includes", "config": {"values": ["```python"]}},
    {"name": "a call", "type": "regex", "config": {"pattern": CALL}},
]
PASSES: dict[str, Passes] = {
    "json_match": lambda case, output: oracles.json_match(case["expected"], output) == 1,
    "in a block": lambda _, output: "```python" in output.lower(),
    "a call": lambda _, output: is_call(output),
}


def two_runs(paths: list[Path], suite: Path, model: str) -> list[Run]:
    dates = zip(paths, GPT_4O_DATES, strict=True)
    return [
        evaluate("BFCL", suite, "--outputs", str(path), "--series", model, "--dated", dated)
        for path, dated in dates
    ]


def keys(pairs: Pairs, kind: PairKind, scorer: str = "") -> list[str]:
    """Every key of the kind, walked page by page."""
    found: list[str] = []
    after: CasePosition | None = None
    while True:
        page = pairs.page(kind, PairFilters(scorer=scorer), after=after)
        found += [row.key for row in page.rows]
        if not page.has_next:
            return found
        after = page.rows[-1].place


@pytest.mark.parametrize("model", [MODELS[0], *SLOW_MODELS])
def test_flips_of_each_scorer_are_those_counted_in_the_files(
    facts: Path, tmp_path: Path, cases: dict[str, dict[str, Any]], model: str
) -> None:
    paths = files(facts, model)
    runs = two_runs(paths, suite_file(tmp_path, *SCORERS), model)
    outputs: list[Outputs] = [{row["id"]: row for row in jsonl_rows(path)} for path in paths]
    figures = Figures.read(compare_runs(*runs).figures)
    assert (figures.pairs, figures.unclear, figures.warnings) == (len(cases), 0, ())
    pairs = Pairs(*runs)
    for each in figures.scorers:
        broke, fixed = counted(cases, outputs, PASSES[each.name])
        assert (each.flips.broke, each.flips.fixed) == (len(broke), len(fixed)), each.name
        assert (each.regressed, each.improved) == (len(broke), len(fixed)), each.name
        assert each.delta == pytest.approx((len(fixed) - len(broke)) / len(cases))
        assert keys(pairs, PairKind.BROKE, each.name) == broke
        assert keys(pairs, PairKind.FIXED, each.name) == fixed


@pytest.mark.parametrize("model", [MODELS[0], *SLOW_MODELS])
def test_case_verdicts_flip_as_the_labels_do(
    facts: Path, tmp_path: Path, cases: dict[str, dict[str, Any]], model: str
) -> None:
    """Each output is its own label, so that a case passes where the benchmark says it is valid."""
    labelled = [[{**row, "output": str(bool(row["bfcl_valid"]))} for row in jsonl_rows(path)]
                for path in files(facts, model)]  # fmt: skip
    paths = [write_jsonl(tmp_path / f"{n}.jsonl", rows) for n, rows in enumerate(labelled)]
    suite = suite_file(tmp_path, {"type": "includes", "config": {"values": ["True"]}})
    runs = two_runs(paths, suite, model)
    outputs: list[Outputs] = [{row["id"]: row for row in rows} for rows in labelled]
    broke, fixed = counted(cases, outputs, lambda _, output: output == "True")
    figures = Figures.read(compare_runs(*runs).figures)
    assert (figures.broke, figures.fixed) == (len(broke), len(fixed)) == LABELLED[model]
    assert figures.unchanged == len(cases) - len(broke) - len(fixed)
    assert keys(Pairs(*runs), PairKind.BROKE) == broke
    assert keys(Pairs(*runs), PairKind.FIXED) == fixed
