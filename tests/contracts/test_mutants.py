"""The list of mutants fits the code; whether tests notice them, `tests.support.mutants` tries."""

from __future__ import annotations

from collections import Counter

from tests.support.mutants.mutant import read_mutants
from tests.support.paths import ROOT

MUTANTS = list(read_mutants())


def test_each_mutant_changes_one_place_and_still_compiles() -> None:
    for mutant in MUTANTS:
        changed = mutant.applied((ROOT / mutant.path).read_text(encoding="utf-8"))
        compile(changed, mutant.path, "exec")


def test_each_mutant_names_tests_that_exist() -> None:
    missing = {test for mutant in MUTANTS for test in mutant.tests if not (ROOT / test).exists()}
    assert missing == set()


def test_no_mutant_is_listed_twice() -> None:
    counts = Counter((mutant.path, mutant.find, mutant.replacement) for mutant in MUTANTS)
    assert [change for change, count in counts.items() if count > 1] == []
