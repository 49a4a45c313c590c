"""Every code a result can have has a sentence, and every sentence a code."""

from __future__ import annotations

import re

import pytest

from scoring.core.explain.result_codes import CODE_MEANINGS, code_meaning
from tests.support.paths import ROOT

SOURCE = ROOT / "scoring"
MAKERS = (
    "error|skipped|forced_fail|CaseProblem|OutsideProblem|CallFailure|UnusableReply"
    "|EmbeddingError|call_problem|fail_shard|fail_generation|_count_try"
)
#: A call that makes a result or a problem, up to its first text, which is the code.
MADE = re.compile(rf'\b(?:{MAKERS})\((?:\s*[\w.]+,)?\s*"([a-z]+(?:_[a-z]+)*)"')


def classified() -> set[str]:
    """The codes by which an endpoint's own errors are told apart."""
    source = (SOURCE / "core/llm/errors.py").read_text()
    (table,) = re.findall(r"texts = \{(.*?)\n    \}", source, re.DOTALL)
    return set(re.findall(r'^ +"([a-z_]+)":', table, re.MULTILINE))


def test_every_code_in_the_source_has_a_sentence() -> None:
    found = {code for path in SOURCE.rglob("*.py") for code in MADE.findall(path.read_text())}
    assert len(found) > 40
    assert (found | classified()) - set(CODE_MEANINGS) == set()


def test_no_sentence_is_left_over() -> None:
    sources = [path for path in SOURCE.rglob("*.py") if path.name != "result_codes.py"]
    text = "\n".join(path.read_text() for path in sources)
    assert [code for code in CODE_MEANINGS if f'"{code}"' not in text] == []


@pytest.mark.parametrize("code", CODE_MEANINGS)
def test_a_sentence_is_one_that_a_person_can_read(code: str) -> None:
    words = code_meaning(code)
    assert words[0].isupper()
    assert words.endswith(".")
    assert words.count(".") == 1
    assert len(words) <= 90
    assert "_" not in words
    assert "!" not in words


def test_a_code_of_a_custom_scorer_has_none() -> None:
    assert code_meaning("my_own") == ""
