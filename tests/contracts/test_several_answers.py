"""Questions with several right answers: with references `includes` agrees with people."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from scoring.core.configured import configure_scorer
from scoring.core.contract import Case

SYSTEMS: Final = ("fid", "gpt35", "chatgpt", "gpt4", "newbing")


class Judged(NamedTuple):
    """One answer of a system, the right answers, and what a person said of it."""

    output: str
    answers: tuple[str, ...]
    is_right: bool


@pytest.fixture
def judged(facts: Path) -> list[Judged]:
    """Every judged answer to a question with several right answers."""
    rows: list[dict[str, Any]] = json.loads(
        (facts / "data/evouna/evouna_NQ_open.json").read_text(encoding="utf-8")
    )
    found = [
        Judged(row[f"answer_{system}"], tuple(row["golden_answer"].split("/")), verdict)
        for row in rows
        if "/" in (row["golden_answer"] or "")
        for system in SYSTEMS
        if isinstance(verdict := row[f"judge_{system}"], bool) and row[f"answer_{system}"]
    ]
    assert len(found) > 1_000
    return found


def passes(cases: list[Case], **config: Any) -> list[bool]:
    scorer = configure_scorer("includes", {"case_sensitive": False, **config})
    return [result.verdict == "pass" for result in scorer.score(cases)]


def agreement(passed: list[bool], judged: list[Judged]) -> float:
    pairs = zip(passed, judged, strict=True)
    return sum(is_passed == one.is_right for is_passed, one in pairs) / len(judged)


def test_references_and_lists_agree_with_people_as_plain_python_does(judged: list[Judged]) -> None:
    plain = [any(answer.lower() in one.output.lower() for answer in one.answers) for one in judged]
    references = passes([Case(one.output, references=one.answers) for one in judged])
    lists = passes([Case(one.output, list(one.answers)) for one in judged])
    assert references == lists == plain
    assert agreement(references, judged) >= 0.7


#: In how many of the judged answers of each system `includes` and people agree.
AGREEMENT: Final = {
    "fid": (876, 1000),
    "gpt35": (847, 1000),
    "chatgpt": (832, 1033),
    "gpt4": (804, 985),
    "newbing": (802, 1000),
}


@pytest.mark.parametrize("system", SYSTEMS)
def test_includes_over_references_agrees_with_people(facts: Path, system: str) -> None:
    rows: list[dict[str, Any]] = json.loads(
        (facts / "data/evouna/evouna_NQ_open.json").read_text(encoding="utf-8")
    )
    rows = [row for row in rows if row[f"judge_{system}"] is not None and row["golden_answer"]]
    cases = [
        Case(
            row[f"answer_{system}"] or "",
            references=tuple(answer.strip() for answer in row["golden_answer"].split("/")),
        )
        for row in rows
    ]
    passed = zip(passes(cases), rows, strict=True)
    agreed = sum(is_passed == row[f"judge_{system}"] for is_passed, row in passed)
    assert (agreed, len(rows)) == AGREEMENT[system]


def test_the_answers_as_one_text_are_hardly_ever_found(judged: list[Judged]) -> None:
    """What a suite measured before, and measures with references off."""
    cases = [Case(one.output, "/".join(one.answers), references=one.answers) for one in judged]
    alone = passes(cases, use_references=False)
    assert sum(alone) < 0.02 * len(judged)
    best = passes(cases)
    assert agreement(best, judged) > agreement(alone, judged) + 0.2
