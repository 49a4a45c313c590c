"""Marks that a table repeats are the same as the fragments they stand for."""

from __future__ import annotations

import re

import pytest
from django.template import Context, Template

from evalsite.pages.cases.table.case_table import ScoreCell
from evalsite.pages.compare.pair_list import ScoreChange
from evalsite.templatetags import comparison, marks
from scoring.models import RunScorer

VERDICTS = ("pass", "fail", "error", "skipped")


def rendered(source: str, **given: object) -> str:
    return Template("{% load marks %}" + source).render(Context(given)).strip()


@pytest.mark.parametrize("verdict", VERDICTS)
def test_a_verdict_is_marked_as_its_fragment_does(verdict: str) -> None:
    fragment = '{% include "web/_verdict.html" with mark_only=True %}'
    given = {"verdict": verdict}
    assert rendered("{% verdict_mark verdict %}", **given) == rendered(fragment, **given)


@pytest.mark.parametrize(
    ("score", "threshold", "verdict"),
    [(0.0, 0.7, "fail"), (0.6996, 0.7, "fail"), (0.00001, 0.0, "pass"), (1.0, 1.0, "pass")],
)
def test_a_score_is_set_as_its_fragment_does(score: float, threshold: float, verdict: str) -> None:
    fragment = '{% include "web/_score.html" with with_mark=True %}'
    given = {"score": score, "threshold": threshold, "verdict": verdict}
    assert rendered("{% score_mark score threshold verdict %}", **given) == rendered(
        fragment, **given
    )


def test_alike_scores_with_other_verdicts_are_told_apart() -> None:
    both = [marks.score_mark(0.5, 0.5, verdict) for verdict in ("pass", "fail")]
    assert "verdict-pass" in both[0]
    assert "verdict-fail" in both[1]


@pytest.mark.parametrize(
    ("score", "verdict", "held"),
    [
        (0.6996, "fail", ">0.6996</span>"),
        (0.9, "pass", "verdict-pass"),
        (None, "error", f'<span title="{"&lt;&quot;"}">'),
        (None, "", "not scored yet"),
    ],
)
def test_a_cell_tells_what_its_scorer_said_and_escapes_it(
    score: float | None, verdict: str, held: str
) -> None:
    scorer = RunScorer(name='<"', threshold=0.7)
    cell = marks.case_cells([ScoreCell(scorer, score, verdict, '<"', scorer.threshold)])
    assert cell.startswith('<td class="num cell-score" data-label="&lt;&quot;">')
    assert held in cell
    assert '<"' not in cell


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (0.2, 0.6996, '0.20<span class="muted"> → </span>0.6996 <span class="delta delta-up">'),
        (0.8, 0.2, '<span class="delta delta-down">\N{MINUS SIGN}0.60</span>'),
        (0.5, 0.5, '0.50 <span class="delta"></span></td>'),
        (None, 0.5, '\N{EN DASH}<span class="muted"> → </span>0.50 <span class="delta"></span>'),
        (None, None, '<span class="muted">\N{EN DASH}</span></td>'),
    ],
)
def test_a_pairs_cells_tell_both_scores_and_the_third_scorer_needs_room(
    before: float | None, after: float | None, told: str
) -> None:
    cells = comparison.score_cells([ScoreChange('<"', before, after, (0.7, 0.7))] * 3).split(
        "<td "
    )[1:]
    assert all(told in cell and 'data-label="&lt;&quot;"' in cell for cell in cells)
    assert ["cell-wide" in cell for cell in cells] == [False, False, True]


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("refund", "refund"),
        ("", ""),
        ("<b>&\"'", "&lt;b&gt;&amp;&quot;&#x27;"),
        ("<b>\u200b", '&lt;b&gt;<span class="invisible" title="U+200B zero width space">'),
    ],
)
def test_a_text_is_escaped_and_nothing_in_it_hides(text: str, html: str) -> None:
    assert rendered("{{ text|visible }}", text=text).startswith(html)


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("q1", "q1"),
        ("é 漢", "é 漢"),
        ("a\u200bb\u202ec", "aU+200BbU+202Ec"),
        ('"<\u202e', "&quot;&lt;U+202E"),
    ],
)
def test_in_an_attribute_what_cannot_be_seen_is_spelled(text: str, spelled: str) -> None:
    assert rendered("{{ text|spell_out }}", text=text) == spelled


def test_a_text_with_marks_is_set_as_its_fragment_does() -> None:
    given = {"text": "one\ntwo\tthree\x00<i>"}
    fragment = '{% include "web/_visible_text.html" %}'
    wrapped = re.sub(r"\s+(?=title=)", " ", rendered(fragment, **given))
    assert rendered("{{ text|visible }}", **given) == wrapped
    assert "<i>" not in rendered("{{ text|visible }}", **given)
