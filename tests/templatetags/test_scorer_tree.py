"""The folded settings of a tree's parts are drawn once for all parts of a type."""

from __future__ import annotations

from typing import Any

import pytest
from django.forms import BoundField

from scoring.models import Scorer, Team
from tests.pages.conftest import browser, edited_scorer, new_scorer, spool
from tests.pages.scorers.steps import JUDGE, EditedScorer, NewScorer
from tests.pages.scorers.test_tree_forms import saved

__all__ = ["browser", "edited_scorer", "new_scorer", "spool"]


def test_folded_settings_are_sent_under_each_parts_own_names(
    new_scorer: NewScorer, edited_scorer: EditedScorer
) -> None:
    form = new_scorer("all")
    tokens = [form.add("includes") for _ in range(3)]
    for token in tokens:
        form.fill(**{f"n{token}__config__mode": "any", f"n{token}__config__values": "a"})
    form.save(name="both", **{f"n{tokens[1]}__config__negate": "on"})
    scorer = Scorer.objects.get(name="both")
    assert [part["config"].get("negate", False) for part in saved()] == [False, True, False]
    page = edited_scorer(scorer).page
    for token in "123":
        assert page.count(f'name="n{token}-config-negate"') == 1
        assert page.count(f'id="id_n{token}-config-negate"') == 1
        assert page.count(f'for="id_n{token}-config-negate"') == 1


@pytest.mark.parametrize(("kind", "config"), [("exact_match", {}), ("llm_judge", JUDGE)])
def test_settings_at_their_defaults_are_drawn_once_for_all_parts_of_a_type(
    edited_scorer: EditedScorer,
    team: Team,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    config: dict[str, Any],
) -> None:
    drawn: list[str] = []
    as_widget = BoundField.as_widget

    def counted(field: BoundField, *args: Any, **options: Any) -> Any:
        drawn.append(field.name)
        return as_widget(field, *args, **options)

    monkeypatch.setattr(BoundField, "as_widget", counted)
    costs = []
    for count in (1, 40):
        parts = [{"type": kind, "name": f"part {n}", "config": config} for n in range(count)]
        edited_scorer(Scorer.objects.define(team, f"{count}", "all", {"scorers": parts}))
        costs.append(len(drawn))
        drawn.clear()
    assert costs[1] - costs[0] == 39 * (1 + len(config))  # a name, and what is not at its default
