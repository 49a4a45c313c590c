"""The case that a scorer is tried on: typed, or one of the team."""

from __future__ import annotations

from itertools import cycle, product
from typing import Any, Final

import pytest
from django.urls import reverse

from evalsite.pages.scorers.tryout_form import MAX_CHARS, TryoutForm
from scoring.core.configured import configure_scorer
from scoring.core.contract import Case as ScoredCase
from scoring.core.contract import Result
from scoring.core.json_text import to_text
from scoring.core.registry import built_in_types
from scoring.models import Case, Dataset, DatasetVersion, Job, JobState, Team, User
from tests.conftest import MakeDataset, MakeOutputs
from tests.pages.runs.steps import BrowserOf
from tests.pages.scorers.test_tryouts import CASE, new, said, sent
from tests.support.run_states import EXACT, finished_run
from tests.support.thoroughness import IS_THOROUGH
from tests.support.undone import undone


@pytest.fixture
def own(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> str:
    """A choice: the second case of the team's own dataset."""
    long = "x" * (MAX_CHARS + 5)
    cases = [
        {"input": long, "expected": "a"},
        {
            "input": {"q": 1},
            "expected": {"b": 2},
            "references": ["one\ntwo", "three"],
            "metadata": {"lang": "en"},
        },
    ]
    version = make_dataset(cases)
    make_outputs(version, ["first", "old"])
    make_outputs(version, ["first", "newest"])
    return f"{version.dataset.uuid}/2"


def test_the_page_begins_with_a_case_of_the_team_and_cuts_a_long_one(
    browser_of: BrowserOf, alice: User, team: Team, own: str
) -> None:
    page = browser_of(alice).get(new(team, "exact_match"))
    fields = page.context["panel"].fields
    assert (fields["output"].value(), fields["expected"].value()) == ("first", "a")
    assert fields["input"].value() == "x" * MAX_CHARS
    assert "are cut" in page.text


def test_a_saved_scorer_begins_with_a_case_of_the_dataset_it_scored_last(
    browser_of: BrowserOf, alice: User, make_dataset: MakeDataset, make_outputs: MakeOutputs
) -> None:
    asked = [{"input": "Who?", "expected": "Ada"}]
    run = finished_run(make_outputs(make_dataset(asked, "Scored"), ["Ida"]), EXACT)
    make_dataset([{"expected": "later"}], "Later")
    scorer = run.scorers.get().version.scorer
    panel = browser_of(alice).get(reverse("edit_scorer", args=[scorer.uuid])).context["panel"]
    assert (panel.fields["input"].value(), panel.fields["output"].value()) == ("Who?", "Ida")
    assert [name for name, _ in panel.choices] == ["Scored", "Later"]


def test_a_case_of_the_team_fills_the_fields_and_is_scored(
    browser_of: BrowserOf, alice: User, team: Team, own: str
) -> None:
    browser, url = browser_of(alice), new(team, "expression")
    config = {"threshold": "0.5", "config-expression": 'metadata.lang == "en"'}
    page = sent(browser, url, "case", **config, **{"try-from": own, "try-output": "typed"})
    assert page.text.lstrip().startswith('<section class="try" id="try"')
    fields = page.context["panel"].fields
    assert fields["output"].value() == "newest"
    assert "1 ≥ 0.5 → pass" in said(page)
    typed = {field.html_name: field.value() for field in fields}
    again = TryoutForm(typed)
    assert again.is_valid()
    case = again.case()
    assert (case.input, case.expected, case.output) == ({"q": 1}, {"b": 2}, "newest")
    assert (case.references, case.metadata) == (("one\ntwo", "three"), {"lang": "en"})


def test_no_choice_and_a_foreign_one_leave_what_was_typed(
    browser_of: BrowserOf,
    alice: User,
    charlie: User,
    team: Team,
    own: str,
    subtests: pytest.Subtests,
) -> None:
    cases: list[str] = ["", "nonsense", "{other}/1", "{own}/99", "{own}/x"]
    for choice in cases:
        with subtests.test(choice=choice), undone():
            dataset = Dataset.objects.create(team=Team.objects.get(slug="elsewhere"), name="Theirs")
            version = DatasetVersion.with_loading.create(dataset=dataset)
            Case.objects.create(version=version, position=1, key="k", input_json='"secret"')
            version.publish(content_hash="", case_count=1)
            named = choice.format(own=own.partition("/")[0], other=dataset.uuid)
            fields = {"threshold": "0.7", "try-from": named, **CASE}
            page = sent(browser_of(alice), new(team, "levenshtein"), "case", **fields)
            assert page.context["panel"].fields["output"].value() == "helo"
            assert "secret" not in page.text


# What is expected: the text as it is typed, or the list or object that it holds


def test_what_is_sent_as_typed_after_the_button_was_pressed_hides_no_answer(
    browser_of: BrowserOf, alice: User, team: Team, worker: None
) -> None:
    browser, url = browser_of(alice), new(team, "factuality")
    typed = {"config-model": "m", "threshold": "0.5", "try-output": "a", "try-expected": "b"}
    asks = "when you press Try it"
    assert asks in sent(browser, url, **typed).text
    sent(browser, url, "now", **typed)
    job = Job.objects.get()
    assert reverse("tried", args=[job.uuid]) in sent(browser, url, **typed).text
    result = ["scored", 0.4, "fail", "a subset", {}]
    answer = {"result": dict(zip(Result._fields, result, strict=True)) | {"code": ""}, "calls": []}
    Job.objects.update(state=JobState.DONE, answer=answer)
    assert "a subset" in sent(browser, url, **typed).text
    assert asks in sent(browser, url, **typed | {"try-output": "c"}).text
    assert Job.objects.count() == 1


#: The types that score here and now; regex needs a pattern, and an expression tells values apart.
STORED: Final[list[Any]] = [{"b": 2, "a": [1.0, None]}, '{"b": 2}', 4.0, True, "x"]
PLAIN_TYPES = sorted(
    name
    for name, kind in built_in_types().items()
    if kind.family == "deterministic" and name not in {"regex", "expression"}
)
SPACED = '{"b": 2,  "a": [1, 2]}'


@pytest.mark.parametrize("type_name", ["exact_match", "includes", "levenshtein", "json_match"])
def test_equal_texts_are_equal_though_they_hold_json(
    browser_of: BrowserOf, alice: User, team: Team, type_name: str
) -> None:
    case = {"try-output": SPACED, "try-expected": SPACED, "config-mode": "all"}
    answer = sent(browser_of(alice), new(team, type_name), threshold="1", **case)
    assert answer.context["tried"].scored.result.score == 1.0
    part = {"node": f"1:0:{type_name}", "n1-name": "same", "n1-config-mode": "all"}
    within = sent(browser_of(alice), new(team, "all"), threshold="1", **case, **part)
    assert within.context["tried"].scored.result.score == 1.0


@pytest.mark.parametrize(
    ("type_name", "stored"),
    list(product(PLAIN_TYPES, STORED))
    if IS_THOROUGH
    else list(zip(PLAIN_TYPES, cycle(STORED), strict=False)),
)
def test_a_case_of_the_team_scores_as_its_run_did(
    browser_of: BrowserOf,
    alice: User,
    team: Team,
    make_dataset: MakeDataset,
    make_outputs: MakeOutputs,
    type_name: str,
    stored: Any,
) -> None:
    version = make_dataset([{"expected": stored}])
    output = to_text(stored)
    make_outputs(version, [output])
    fields = {"threshold": "1", "config-mode": "all", "config-array_mode": "index"}
    fields["config-tokenize"] = "13a"
    chosen = {"try-from": f"{version.dataset.uuid}/1"}
    browser = browser_of(alice)
    page = sent(browser, new(team, type_name), "case", **fields, **chosen)
    form = page.context["panel"].fields
    typed = {field.html_name: field.value() or "" for field in form}
    answer = sent(browser, new(team, type_name), **fields, **typed)
    (scored,) = configure_scorer(type_name, {}, 1.0).score(
        [ScoredCase(output=output, expected=stored)]
    )
    shown = answer.context["tried"].scored.result
    assert (shown.score, shown.verdict, shown.code) == (scored.score, scored.verdict, scored.code)


def test_types_that_tell_a_list_from_its_text_get_the_list(
    browser_of: BrowserOf, alice: User, team: Team
) -> None:
    fields = {"threshold": "0.5", "config-expression": "size(expected) == 2"}
    case = {"try-output": "x", "try-expected": "[1, 2]"}
    answer = sent(browser_of(alice), new(team, "expression"), **fields, **case)
    assert answer.context["tried"].scored.result.score == 1.0
    part = {"node": "1:0:expression", "n1-config-expression": "size(expected) == 2"}
    within = sent(browser_of(alice), new(team, "all"), threshold="1", **case, **part)
    assert within.context["tried"].scored.result.score == 1.0
