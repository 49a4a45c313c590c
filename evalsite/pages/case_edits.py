"""What was edited in a case between the dataset versions of two runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from scoring.core.contract import Json
from scoring.core.shown import Shown, compared, shown, written, written_alike
from scoring.models import Case


class Edit(NamedTuple):
    """One of the case's texts, with what is gone and what is new; `note` where one side has none.

    `name` is that by which the new text is opened whole.
    """

    name: str
    title: str
    text: Shown
    note: str = ""


def edits_of(old: Case, new: Case) -> list[Edit]:
    """Input and expected as far as they differ; the same that makes a pair `edited`."""
    return [*_input(old, new), *_expected(old, new)]


def _input(old: Case, new: Case) -> Iterator[Edit]:
    if old.input_json != new.input_json:
        yield Edit("input", "Input", _both(old.input, new.input))


def _expected(old: Case, new: Case) -> Iterator[Edit]:
    if old.expected_json == new.expected_json:
        return
    if old.has_expected and new.has_expected:
        yield Edit("expected", "Expected", _both(old.expected, new.expected))
        return
    there = old if old.has_expected else new
    note = "Nothing is expected any more; it was:" if there is old else "Nothing was expected."
    yield Edit("expected", "Expected", shown(written(there.expected)), note)


def _both(old: Json, new: Json) -> Shown:
    """Values that are both JSON line by line, other texts by words."""
    if alike := written_alike(old, new):
        return compared(*alike, "line")
    return compared(written(old), written(new), "word")
