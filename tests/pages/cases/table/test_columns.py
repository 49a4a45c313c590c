"""Which columns a case table has."""

from __future__ import annotations

import pytest

from evalsite.pages.cases.table.columns import MAX_SCORERS, Columns
from scoring.models import RunScorer

SCORERS = [RunScorer(pk=n, name=f"s{n}") for n in range(8)]
FIRST = {f"scorer:s{n}" for n in range(MAX_SCORERS)}


@pytest.mark.parametrize(
    ("named", "needed", "has_baseline", "shown"),
    [
        ([], [], True, {"output", "tags", "change", *FIRST}),
        ([], [], False, {"output", "tags", *FIRST}),
        ([], [SCORERS[7], None], False, {"output", "tags", "scorer:s7", *(FIRST - {"scorer:s5"})}),
        (["cost", "scorer:s7"], [SCORERS[1]], True, {"cost", "scorer:s7"}),
        (["cost", "nothing"], [], True, {"cost"}),
        (["nothing", "scorer:gone"], [], False, {"output", "tags", *FIRST}),
        (["change"], [], False, {"output", "tags", *FIRST}),
    ],
)
def test_named_columns_are_shown_else_the_usual_ones(
    named: list[str], needed: list[RunScorer | None], has_baseline: bool, shown: set[str]
) -> None:
    columns = Columns(SCORERS, named, needed, has_baseline)
    assert columns.selected == shown
    assert {choice.value for choice in columns.choices() if choice.is_shown} == shown
    assert [f"scorer:s{n}" in columns for n in columns.scorer_indexes] == [True] * len(
        [name for name in shown if name.startswith("scorer:")]
    )


@pytest.mark.parametrize(("named", "are_default"), [([], True), (["x"], True), (["cost"], False)])
def test_names_that_nothing_has_are_no_choice(named: list[str], are_default: bool) -> None:
    assert Columns(SCORERS, named).are_default == are_default
