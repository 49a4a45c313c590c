"""Why a judge or a comparison of meanings scored so, on the page of a case."""

from __future__ import annotations

from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from scoring.core.contract import Result, error
from scoring.core.explain.result_codes import CODE_MEANINGS
from scoring.models import CallPurpose, Case, ModelCall, Output, Run, RunScorer, Score, Team, User
from scoring.models.runs.result_rows import SCORE_COLUMNS, score_rows
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.run_states import queued_run
from tests.support.undone import undone

BrowserOf = Callable[[User], Client]
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2) hx-get=/ hx-trigger=load>"
FACTS = ("facts", "factuality", {"model": "m", "connection": None})
TONE = (
    "tone",
    "llm_judge",
    {"model": "m", "rubric": "Kind?", "choices": {"kind": 1, "rude": 0}, "samples": 3},
)
NEAR = ("near", "reference_match", {"embedding_provider": "local"})
PARTS = (
    "parts",
    "all",
    {"scorers": [{"type": "factuality", "name": "f", "config": {"model": "m"}}]},
)


def call(team: Team, reply: str, **more: Any) -> str:
    made = ModelCall.objects.create(
        team=team, purpose=CallPurpose.JUDGE, connection_name="own", model="m", reply=reply, **more
    )
    return str(made.pk)


def costs(*refs: str, **more: Any) -> dict[str, Any]:
    return {"attempts": 1, "model": "m-1", "tokens_in": 100, "tokens_out": 20, "cost_usd": 0.0002,
            "latency_ms": 81.0, "cached": False, "refs": list(refs), **more}  # fmt: skip


@pytest.fixture
def judged(team: Team, make_dataset: MakeDataset, make_outputs: MakeOutputs) -> Callable[..., Run]:
    """A run of one output whose scorers gave these results, by name."""

    def make(**results: Result) -> Run:
        version = make_dataset([{"expected": "Paris", "references": ["Paris", HOSTILE]}])
        definitions = {each[0]: each for each in (FACTS, TONE, NEAR, PARTS)}
        run = queued_run(make_outputs(version, ["It is Paris."]), *map(definitions.get, results))  # type: ignore[arg-type]
        output = Output.objects.get(output_set=run.output_set)
        for scorer in RunScorer.objects.filter(run=run):
            row = score_rows(scorer.pk, [output.pk], [results[scorer.name]])[0]
            Score.objects.create(**dict(zip(SCORE_COLUMNS, row, strict=True)))
        return run

    return make


def page_of(browser: Client, run: Run) -> str:
    answer = browser.get(reverse("run_case", args=[run.uuid, 1]))
    assert answer.status_code == 200
    return " ".join(unescape(answer.text).split())


def settled(score: float, verdict: Any, facts: dict[str, Any]) -> Result:
    return Result("scored", score, verdict, "", facts)


def test_a_judge_shows_choice_reasons_costs_and_its_raw_reply(
    browser_of: BrowserOf, bob: User, team: Team, judged: Any
) -> None:
    ref = call(team, '{"reasons": "All there.", "choice": "B"}')
    facts = costs(ref, choice="B", reasons="All there, and more.", samples=["B"])
    page = page_of(browser_of(bob), judged(facts=settled(0.6, "pass", facts)))
    shown = ("B: all facts and more", "All there, and more.", "0.6 ≥ 0.5 → pass", "m-1", "81 ms")
    for part in (*shown, "$0.0002", '{"reasons": "All there.", "choice": "B"}'):
        assert part in page
    assert page.count("chosen</span>") == 1


def test_samples_and_how_they_reduce_are_shown(
    browser_of: BrowserOf, bob: User, team: Team, judged: Any
) -> None:
    refs = [call(team, f"they said {number}") for number in range(3)]
    facts = costs(*refs, choice="kind", reasons="", samples=["kind", "rude", "kind"])
    page = page_of(browser_of(bob), judged(tone=settled(1.0, "pass", facts)))
    assert "3 samples, median:" in page
    assert "<summary>Rubric</summary>" in page
    assert "Kind?" in page
    assert "median(1, 0, 1) = 1 ≥ 0.5 → pass" in page
    places = [page.index(f"they said {number}") for number in range(3)]
    assert places == sorted(places)


def test_an_unusable_reply_is_shown_beside_what_is_wrong_with_it(
    browser_of: BrowserOf, bob: User, team: Team, judged: Any
) -> None:
    ref = call(team, "I would say: fine", fault="reply_unparsable", refusal="I cannot")
    result = error("reply_unparsable", "the reply is not one JSON object", costs(ref))
    page = page_of(browser_of(bob), judged(facts=result))
    for part in ("the reply is not one JSON object", "I would say: fine", "I cannot"):
        assert part in page


def test_an_empty_reply_is_called_so(
    browser_of: BrowserOf, bob: User, team: Team, judged: Any
) -> None:
    result = error("reply_empty", "the reply is empty", costs(call(team, "", fault="reply_empty")))
    page = page_of(browser_of(bob), judged(facts=result))
    assert "an empty text" in page
    assert CODE_MEANINGS["reply_empty"] in page


def test_a_reply_inside_a_combination_is_shown(
    browser_of: BrowserOf, bob: User, team: Team, judged: Any
) -> None:
    facts = costs(call(team, "the inner reply"), choice="C")
    child = {"name": "f", "status": "scored", "score": 1.0, "verdict": "pass", "metadata": facts}
    page = page_of(browser_of(bob), judged(parts=settled(1.0, "pass", {"children": [child]})))
    assert "the inner reply" in page


def test_a_reply_of_another_team_or_of_none_is_not_there(
    browser_of: BrowserOf, bob: User, charlie: User, judged: Any, subtests: pytest.Subtests
) -> None:
    cases: list[str] = ["{theirs}", "x", "", "9" * 30, "-1", "²"]
    for ref in cases:
        with subtests.test(ref=ref), undone():
            theirs = call(Team.objects.get(slug="elsewhere"), "their secret")
            facts = costs(ref.format(theirs=theirs), choice="C")
            page = page_of(browser_of(bob), judged(facts=settled(1.0, "pass", facts)))
            assert "their secret" not in page
            assert "Raw reply" not in page


def test_similarities_are_bars_with_their_references(
    browser_of: BrowserOf, bob: User, judged: Any
) -> None:
    facts = {"similarities": [0.9876, 0.1], "references": 2, "winner": 1, "similarity": 0.9876,
             "reference": '"Paris"', "model": "mini", "provider": "local",
             "cut_output": True}  # fmt: skip
    page = page_of(browser_of(bob), judged(near=settled(0.9876, "pass", facts)))
    assert "max(0.9876, 0.1) = 0.9876 ≥ 0.7 → pass" in page
    assert 'class="score-bar-fill" width="0.9876"' in page
    assert page.count(">closest<") == 1
    assert "longer than the model's window and was cut" in page


def test_what_models_write_is_text(
    browser_of: BrowserOf, bob: User, team: Team, judged: Any
) -> None:
    ref = call(team, HOSTILE, refusal=HOSTILE, fault="refused")
    facts = costs(ref, choice="C", reasons=HOSTILE, model=HOSTILE)
    near = {"similarities": [0.5, 0.9], "references": 2, "winner": 2, "provider": "local",
            "model": HOSTILE, "reference": HOSTILE}  # fmt: skip
    run = judged(facts=settled(1.0, "pass", facts), near=settled(0.9, "pass", near))
    page = browser_of(bob).get(reverse("run_case", args=[run.uuid, 1])).text
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert page.count("&lt;script&gt;alert(1)") >= 5


def test_replies_cost_one_query_however_many_there_are(
    browser_of: BrowserOf, bob: User, team: Team, judged: Any
) -> None:
    def queries(**results: Result) -> int:
        run, browser = judged(**results), browser_of(bob)
        with CaptureQueriesContext(
            connection,
        ) as seen:
            page_of(browser, run)
        Run.objects.all().delete()
        return len(seen)

    facts = settled(1.0, "pass", costs(call(team, "one"), choice="C"))
    refs = [call(team, f"{number}") for number in range(3)]
    tone = settled(1.0, "pass", costs(*refs, choice="kind", samples=["kind"] * 3))
    plain = queries(facts=settled(1.0, "pass", {}))
    assert queries(facts=facts) == plain + 1
    assert queries(facts=facts, tone=tone) == plain + 1


def test_a_reference_without_a_word_is_named_as_such(
    browser_of: BrowserOf, bob: User, judged: Any
) -> None:
    run = judged(
        near=settled(1.0, "pass", {"winner": 1, "references": 2, "similarities": [1, 0.5]})
    )
    Case.objects.update(references_json='["", "Paris"]')
    page = page_of(browser_of(bob), run)
    closest = page[page.index('aria-label="Similarity') :]
    assert closest.index("an empty text") < closest.index("Paris")
