"""A combination edited as a tree, with nothing but buttons that post."""

from __future__ import annotations

import re
from typing import Any

import pytest

from evalsite.pages.scorers.tree_forms import MAX_NODES, ROOT
from scoring.models import AuditEntry, Scorer, Team
from tests.pages.scorers.steps import EditedScorer, NewScorer
from tests.support.undone import undone


def saved(name: str = "both") -> list[dict[str, Any]]:
    version = Scorer.objects.get(name=name).current
    assert version is not None
    parts: list[dict[str, Any]] = version.config["scorers"]
    return parts


def test_a_nested_combination_is_made_by_buttons_alone(new_scorer: NewScorer) -> None:
    form = new_scorer("weighted")
    same = form.add("exact_match")
    both = form.add("all")
    pattern = form.add("regex", to=both)
    form.save(
        name="both",
        threshold="0.6",
        **{
            f"n{same}__weight": "2",
            f"n{same}__config__case_sensitive": "",
            f"n{both}__name": "shape",
            f"n{pattern}__config__pattern": r"^\d+$",
        },
    )
    assert form.answer.status_code == 302
    inner = {"name": "", "type": "regex", "config": {"pattern": r"^\d+$"}, "weight": 1.0}
    assert saved() == [
        {"name": "", "type": "exact_match", "config": {"case_sensitive": False}, "weight": 2.0},
        {"name": "shape", "type": "all", "config": {"scorers": [inner]}, "weight": 1.0},
    ]
    assert AuditEntry.objects.filter(action="scorer.created").count() == 1


def test_the_saved_tree_comes_back_as_it_was_and_saving_it_makes_no_version(
    edited_scorer: EditedScorer, nested: Scorer
) -> None:
    form = edited_scorer(nested)
    form.save()
    assert form.answer.status_code == 302
    assert nested.versions.count() == 1
    form = edited_scorer(nested)
    form.press("down:1")
    form.press("up:1")
    form.save()
    assert nested.versions.count() == 1


def test_moving_and_removing_make_a_version_with_what_is_left(
    edited_scorer: EditedScorer, nested: Scorer
) -> None:
    form = edited_scorer(nested)
    form.press("up:2")
    assert form.tokens == ["2", "3", "4", "5", "1"]
    form.press("remove:3")
    assert "Removed: a" in form.page
    form.save()
    parts = saved()
    assert [part["name"] for part in parts] == ["form", "same"]
    assert [part["type"] for part in parts[0]["config"]["scorers"]] == ["includes", "llm_judge"]
    assert nested.versions.count() == 2


def test_what_was_removed_is_put_back_with_what_was_typed(
    new_scorer: NewScorer,
) -> None:
    form = new_scorer("any")
    token = form.add("regex")
    form.press(f"remove:{token}", **{f"n{token}__config__pattern": "kept"})
    form.press(f"restore:{token}")
    form.save(name="both")
    assert [part["config"]["pattern"] for part in saved()] == ["kept"]


def test_an_order_that_cannot_be_changes_nothing(
    edited_scorer: EditedScorer, team: Team, subtests: pytest.Subtests
) -> None:
    cases: list[str] = ["up:1", "down:2", "up:99", "remove:99", "add:1", "odd:1", "x"]
    for order in cases:
        with subtests.test(order=order), undone():
            parts = [{"type": "exact_match", "name": name} for name in ("a", "b")]
            form = edited_scorer(Scorer.objects.define(team, "both", "all", {"scorers": parts}))
            before = form.fields["node"]
            form.press(order)
            assert form.answer.status_code == 200
            assert form.fields["node"] == before


def test_combinations_nest_to_depth_eight_and_no_deeper(new_scorer: NewScorer) -> None:
    form, token = new_scorer("all"), ROOT
    for level in range(2, 9):
        token = form.add("all", to=token)
        offered = re.search(rf'<select id="add-{token}".*?</select>', form.page, re.DOTALL)
        assert offered is not None
        assert ('value="all"' in offered[0]) == (level < 8)
    form.fields[f"add-{token}"] = ["all"]
    form.press(f"add:{token}")
    assert len(form.tokens) == 7
    form.add("exact_match", to=token)
    form.save(name="both")
    assert form.answer.status_code == 302
    depth, parts = 1, saved()
    while "scorers" in parts[0]["config"]:
        depth, parts = depth + 1, parts[0]["config"]["scorers"]
    assert depth == 8


def test_what_is_wrong_is_said_at_its_node_and_in_the_summary(
    edited_scorer: EditedScorer, nested: Scorer, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[dict[str, str], str, str]] = [
        ({"n3__config__pattern": "("}, "id_n3-config-pattern", "group is not closed"),
        ({"n3__config__pattern": ""}, "id_n3-config-pattern", "This field is required"),
        ({"n3__weight": "0"}, "id_n3-weight", "above 0"),
        ({"n3__weight": "x"}, "id_n3-weight", "Enter a number"),
        ({"n1__name": "form"}, "tree", "two scorers are called"),
        ({"n5__config__range": "1"}, "id_n5-config-range", "both ends"),
    ]
    for typed, anchor, text in cases:
        with subtests.test(typed=typed, anchor=anchor, text=text), undone():
            form = edited_scorer(nested)
            form.save(**typed)
            assert form.answer.status_code == 422
            summary = form.page.partition("error-summary")[2].partition("</ul>")[0]
            assert f'href="#{anchor}"' in summary
            assert text in summary
            assert f'id="{anchor}"' in form.page
            assert form.page.count(text) == 2
            assert nested.versions.count() == 1


def test_errors_of_several_nodes_are_said_at_once(new_scorer: NewScorer) -> None:
    form = new_scorer("all")
    one, two = form.add("regex"), form.add("expression")
    form.save(
        name="both",
        **{f"n{one}__config__pattern": "(", f"n{two}__config__expression": "1 +"},
    )
    summary = form.page.partition("error-summary")[2].partition("</ul>")[0]
    assert summary.count("<li>") == 2


def test_an_empty_combination_is_refused_at_the_tree(new_scorer: NewScorer) -> None:
    form = new_scorer("all")
    form.save(name="both")
    assert form.answer.status_code == 422
    assert 'id="tree-errors"><li>must not be empty' in form.page


def test_a_button_of_the_tree_judges_nothing_and_saves_nothing(
    new_scorer: NewScorer,
) -> None:
    form = new_scorer("all")
    form.add("regex")
    form.add("expression")
    assert "error-summary" not in form.page
    assert "field-errors" not in form.page
    assert not Scorer.objects.exists()


def test_the_weight_is_asked_for_only_where_it_counts(new_scorer: NewScorer) -> None:
    for kind, is_asked in (("weighted", True), ("all", False)):
        form = new_scorer(kind)
        token = form.add("exact_match")
        assert (f'id="id_n{token}-weight"' in form.page) is is_asked


def test_a_part_shows_what_is_required_or_changed_and_folds_the_rest(
    edited_scorer: EditedScorer, team: Team
) -> None:
    parts = [{"type": "includes", "config": {"mode": "any", "values": ["a"]}}]
    page = edited_scorer(Scorer.objects.define(team, "both", "all", {"scorers": parts})).page
    before, _, after = page.partition('<details class="fold">')
    for name, is_open in (("mode", True), ("values", True), ("negate", False)):
        assert (f'name="n1-config-{name}"' in before) is is_open
        assert (f'name="n1-config-{name}"' in after) is not is_open


# What nobody's page sends


def test_lines_that_no_page_sends_break_nothing(
    new_scorer: NewScorer, subtests: pytest.Subtests
) -> None:
    cases: list[list[str]] = [
        ["1:0:nonsense"],
        ["1:7:regex"],
        ["1:1:all"],
        ["0:0:all"],
        ["1:0:exact_match", "2:1:regex"],
        ["1:0:all:gone:x"],
        [f"{n}:{n - 1}:all" for n in range(1, 60)],
        [f"{n}:0:exact_match" for n in range(1, 400)],
    ]
    for lines in cases:
        with subtests.test(lines=lines), undone():
            form = new_scorer("all")
            form.fields["node"] = lines
            form.press("up:1")
            assert form.answer.status_code == 200
            assert len(form.tokens) <= MAX_NODES
            form.fields["node"] = lines
            form.save(name="both")
            assert form.answer.status_code in {302, 422}
