"""Numbers and times are set the same way on every page."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.template import Context, Template
from django.template.loader import render_to_string
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import lazy, lazystr
from django.utils.safestring import mark_safe

from evalsite.templatetags import formatting

NOTHING = "\N{EN DASH}"
NOON = datetime(2026, 11, 12, 12, 0, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timezone, "now", lambda: NOON)


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, NOTHING), (0, "0"), (999, "999"), (1191, "1,191"), (10**6, "1,000,000")],
)
def test_a_count_has_thousands(value: int | None, text: str) -> None:
    assert formatting.count(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(4.0, "4"), (7 / 3, "2.33"), (2.5, "2.5"), (1_234_567.25, "1,234,567.25"), (100.0, "100")],
)
def test_a_case_may_count_in_part(value: float, text: str) -> None:
    assert formatting.count(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, NOTHING),
        (0, "$0.00"),
        (1234.5, "$1,234.50"),
        (0.5, "$0.50"),
        (0.05, "$0.05"),
        (0.001, "$0.001"),
        (0.999, "$1.00"),
        (0.012, "$0.012"),
        (0.00123, "$0.0012"),
        (0.0000071, "$0.0000071"),
        (1e-15, "$0.00"),
    ],
)
def test_an_amount_shows_digits_that_say_something(value: float | None, text: str) -> None:
    assert formatting.dollars(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3.0, "3"),
        (0.5, "0.5"),
        (True, "true"),
        ("3.0", '"3.0"'),
        ([{"type": "regex", "weight": 2.0}], '[{"type": "regex", "weight": 2}]'),
        (2.0**53, "9007199254740992.0"),
    ],
)
def test_a_setting_is_written_as_a_person_types_it(value: object, text: str) -> None:
    assert formatting.as_json(value) == text


@pytest.mark.parametrize(
    ("per_second", "text"),
    [
        (1234.5, "1,234 a second"),
        (12.3, "12 a second"),
        (0.99, "1 a second"),
        (0.5, "30 a minute"),
        (0.02, "1 a minute"),
        (0.001, "under one a minute"),
    ],
)
def test_a_slow_rate_is_by_the_minute(per_second: float, text: str) -> None:
    assert formatting.speed(per_second) == text


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("one rule", "one rule"),
        ("`*` or `a.b`", "<code>*</code> or <code>a.b</code>"),
        ("a ` alone", "a ` alone"),
        ("`<b>` & <i>", "<code>&lt;b&gt;</code> &amp; &lt;i&gt;"),
        (mark_safe("<ul>`x`</ul>"), "<ul>`x`</ul>"),
    ],
)
def test_backticks_in_a_help_text_set_code_and_nothing_else(text: str, html: str) -> None:
    field = {"auto_id": "f", "help_text": text}
    help_text = render_to_string("web/_field_help.html", {"field": field})
    assert help_text.strip() == f'<div class="field-help" id="f_helptext">{html}</div>'


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (None, 2, NOTHING),
        (0.0, 2, "0.00"),
        (1.0, 2, "1.00"),
        (0.8149, 2, "0.81"),
        (0.8149, 4, "0.8149"),
    ],
)
def test_a_score_has_its_decimals(value: float | None, decimals: int, text: str) -> None:
    assert formatting.score(value, decimals) == text


@pytest.mark.parametrize(
    ("value", "threshold", "text"),
    [
        (None, 0.7, NOTHING),
        (0.42, None, "0.42"),
        (0.42, 0.7, "0.42"),
        (0.7, 0.7, "0.70"),
        (0.6996, 0.7, "0.6996"),
        (0.699999999, 0.7, "0.699999999"),
        (0.996, 1.0, "0.996"),
        (0.8751, 0.875, "0.88"),
    ],
)
def test_a_score_shows_its_side_of_the_threshold(
    value: float | None, threshold: float | None, text: str
) -> None:
    assert formatting.score_near_threshold(value, threshold) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, NOTHING), (0.872, "87.2\u202f%"), (1.0, "100.0\u202f%"), (0.0, "0.0\u202f%")],
)
def test_a_share_is_a_percentage(value: float | None, text: str) -> None:
    assert formatting.share(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, NOTHING), (0.021, "+0.02"), (-0.021, "\u22120.02"), (0.0, "0.00"), (-0.0004, "0.00")],
)
def test_a_change_has_a_true_sign(value: float | None, text: str) -> None:
    assert formatting.signed(value) == text


@pytest.mark.parametrize(
    ("before", "text"),
    [
        (timedelta(seconds=0), "just now"),
        (timedelta(seconds=59), "just now"),
        (timedelta(seconds=60), "1 min ago"),
        (timedelta(minutes=59, seconds=59), "59 min ago"),
        (timedelta(hours=1), "1 h ago"),
        (timedelta(hours=23, minutes=59), "23 h ago"),
        (timedelta(days=1), "1 day ago"),
        (timedelta(days=13, hours=23), "13 days ago"),
        (timedelta(days=14), "29 Oct 2026"),
        (timedelta(minutes=-5), "in 5 min"),
        (timedelta(days=-1, hours=-1), "in 1 day"),
        (timedelta(days=-30), "12 Dec 2026"),
    ],
)
def test_a_time_is_told_in_one_unit(before: timedelta, text: str) -> None:
    assert formatting.ago(NOON - before) == text


def test_no_time_is_a_dash() -> None:
    assert (formatting.ago(None), formatting.exact(None)) == (NOTHING, NOTHING)


def test_the_exact_time_names_its_zone() -> None:
    assert formatting.exact(datetime(2026, 11, 2, 4, 3, tzinfo=UTC)) == "2 Nov 2026, 04:03 UTC"


def test_the_time_include_carries_words_title_and_machine_time() -> None:
    page = Template('{% include "web/_time.html" %}').render(Context({"when": NOON}))
    assert page.strip() == (
        '<time datetime="2026-11-12T12:00:00+00:00" title="12 Nov 2026, 12:00 UTC" data-ago>'
        "just now</time>"
    )


@pytest.mark.parametrize(
    ("verdict", "mark"), [("pass", "✓"), ("fail", "✕"), ("error", "!"), ("skipped", NOTHING)]
)
def test_a_verdict_has_a_shape_and_a_word(verdict: str, mark: str) -> None:
    page = Template('{% include "web/_verdict.html" %}').render(Context({"verdict": verdict}))
    assert f'aria-hidden="true">{mark}<' in page
    assert f">{verdict}<" in page


def test_a_verdict_of_zero_cases_still_shows_its_count() -> None:
    page = Template('{% include "web/_verdict.html" with verdict="fail" count=0 %}').render(
        Context()
    )
    assert '<span class="number">0</span>' in page


def test_no_score_is_never_drawn_as_zero() -> None:
    page = Template('{% include "web/_score.html" %}').render(Context({"score": None}))
    assert "svg" not in page
    assert "0" not in page


def test_a_score_bar_is_as_long_as_its_score() -> None:
    given = {"score": 0.42, "threshold": 0.7, "verdict": "fail"}
    page = Template('{% include "web/_score.html" %}').render(Context(given))
    assert 'class="score-bar score-bar-fail"' in page
    assert '<rect class="score-bar-fill" width="0.42"' in page
    assert 'x1="0.7" x2="0.7"' in page


def test_a_lazy_help_text_is_read_when_it_is_shown() -> None:
    assert formatting.split_code(lazystr("see `here`")) == [(False, "see "), (True, "here")]
    html = lazy(lambda: mark_safe("<ul><li>long</li></ul>"), str)()
    assert formatting.split_code(html) == [(False, "<ul><li>long</li></ul>")]


def test_the_sign_in_page_opens(client: Client, db: None) -> None:
    assert client.get(reverse("account_login")).status_code == 200
