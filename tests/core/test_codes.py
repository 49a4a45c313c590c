"""Every code a result can have has a sentence, and every sentence a code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from scoring.core.codes import CODES, meaning

ROOT = Path(__file__).resolve().parents[2] / "scoring"
CODE = re.compile(r"[a-z]+(_[a-z]+)*")
MAKERS = {
    "error",
    "skipped",
    "forced_fail",
    "CaseProblem",
    "OutsideProblem",
    "Fault",
    "Unusable",
    "EmbeddingError",
    "problem",
    "give_up",
    "_count_try",
}


def made(path: Path) -> Iterator[str]:
    """The codes a file names where it makes a result or a problem."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            words = (arg.value for arg in node.args if isinstance(arg, ast.Constant))
            texts = [word for word in words if isinstance(word, str) and CODE.fullmatch(word)]
            if name in MAKERS and texts:
                yield texts[0]


def classified() -> set[str]:
    """The codes by which an endpoint's own errors are told apart."""
    source = (ROOT / "core/judge/faults.py").read_text()
    (table,) = re.findall(r"texts = \{(.*?)\n    \}", source, re.DOTALL)
    return set(re.findall(r'^ +"([a-z_]+)":', table, re.MULTILINE))


def test_every_code_in_the_source_has_a_sentence() -> None:
    found = {code for path in ROOT.rglob("*.py") for code in made(path)}
    assert len(found) > 40
    assert (found | classified()) - set(CODES) == set()


def test_no_sentence_is_left_over() -> None:
    sources = [path for path in ROOT.rglob("*.py") if path.name != "codes.py"]
    text = "\n".join(path.read_text() for path in sources)
    assert [code for code in CODES if f'"{code}"' not in text] == []


@pytest.mark.parametrize("code", CODES)
def test_a_sentence_is_one_that_a_person_can_read(code: str) -> None:
    words = meaning(code)
    assert words[0].isupper()
    assert words.endswith(".")
    assert words.count(".") == 1
    assert len(words) <= 90
    assert "_" not in words
    assert "!" not in words


def test_a_code_of_a_custom_scorer_has_none() -> None:
    assert meaning("my_own") == ""
