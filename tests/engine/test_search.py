from __future__ import annotations

import pytest

from scoring.engine.search import LIMIT, SearchResults, search
from scoring.models import Dataset, Scorer, Suite, Team
from tests.conftest import MakeDataset

pytestmark = pytest.mark.django_db


def test_what_a_team_has_of_a_name_is_found(team: Team, make_dataset: MakeDataset) -> None:
    other = Team.objects.create(name="Other", slug="other")
    scorer = Scorer.objects.define(team, "answers right", "exact_match", {})
    suite = Suite.objects.define(team, "All ANSWERS", [(scorer, None)])
    Scorer.objects.define(other, "answers", "exact_match", {})
    Dataset.objects.create(team=team, name="Answers to come")  # without a version
    dataset = make_dataset([{}], name="Answers").dataset
    found = search(team, "answer")
    assert (found.datasets, found.scorers, found.suites) == ([dataset], [scorer], [suite])
    assert (found.counts, found.is_cut) == ([("dataset", 1), ("scorer", 1), ("suite", 1)], False)
    assert search(team, "") == SearchResults()


@pytest.mark.parametrize(("count", "is_cut"), [(LIMIT, False), (LIMIT + 1, True)])
def test_more_than_the_limit_is_cut(team: Team, count: int, is_cut: bool) -> None:
    for number in range(count):
        Scorer.objects.define(team, f"s{number}", "exact_match", {})
    found = search(team, "s")
    assert (found.counts, found.is_cut) == ([("scorer", LIMIT)], is_cut)


@pytest.mark.parametrize("text", ["ÜBER", "cafe\u0301", "Caf\u00e9"])
def test_the_case_and_the_form_of_letters_make_no_difference(team: Team, text: str) -> None:
    scorer = Scorer.objects.define(team, "Überall im CAF\u00c9", "exact_match", {})
    Scorer.objects.define(team, "cafeteria", "exact_match", {})
    assert search(team, text).scorers == [scorer]
