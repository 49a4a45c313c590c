"""Formulas come out of Markdown as they went in, and prices stay text."""

from __future__ import annotations

import pytest

from evalsite.rendering.safe_html import render_markdown
from tests.support.html import Reader
from tests.support.speed import quick_enough

FORMULAS = [
    r"\(a_{1}*b + c*d_{2}\)",
    r"\( x \)",
    r"\[ a_{1}*b + c*d_{2} \]",
    "\\[\na_1*b*c\n= d \\\\\n- e\n\\]",
    "\\[\n+ a\n\\]",
    "\\[\na\n===\n\\]",
    "$a_1*b_2*c$",
    "$x$",
    "$2 \\cdot 3$",
    "$2 + 3*4*5$",
    "$-5$",
    "$$a*b*c$$",
    "$$\n# a *b* c\n$$",
    r"$\{x \mid x < y & z\}$",
    r"\(a &lt; b\)",
    r"$\frac{1}{2}$",
]
AROUND = ["{}", "So {} holds.", "({}).", "- {}", "> {}", "# {}", "**{}**"]


PLACES = [
    (formula, around)
    for formula in FORMULAS
    for around in (AROUND[:3] if "\n" in formula else AROUND)
]


@pytest.mark.parametrize(("formula", "around"), PLACES)
def test_a_formula_is_verbatim_wherever_it_stands(formula: str, around: str) -> None:
    html = render_markdown(around.format(formula))
    assert around.strip("->#* ").format(formula) in Reader(html).text
    assert "<em>" not in html


@pytest.mark.parametrize("mark", [">", "-"])
def test_a_displayed_formula_stays_whole_in_a_quotation_and_in_an_item(mark: str) -> None:
    lines = ["\\[", "a*b*c", "+ d", "\\] *then*"]
    indent = "> " if mark == ">" else "  "
    text = f"{mark} " + f"\n{indent}".join(lines)
    html = render_markdown(text)
    assert "\\[\na*b*c\n+ d\n\\] <em>then</em>" in html


def test_what_stands_behind_a_formula_is_read_as_ever() -> None:
    html = render_markdown("Text:\n\\[\na*b*c\n\\] and *so on*\n\n- an item")
    assert "<p>Text:</p>\n<p>\\[\na*b*c\n\\] and <em>so on</em></p>\n<ul>" in html


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("$5 and *10* or $6", "$5 and <em>10</em> or $6"),
        ("$5 *or* less than 6$", "$5 <em>or</em> less than 6$"),
        ("US$5 and *CA$6*", "US$5 and <em>CA$6</em>"),
        ("5$ and *6* $", "5$ and <em>6</em> $"),
        ("$5-*$10*", "$5-<em>$10</em>"),
        ("$1,000 *to* US$ 2,000", "$1,000 <em>to</em> US$ 2,000"),
        (r"\$x*y*z\$", "$x<em>y</em>z$"),
        ("$x*y*z", "$x<em>y</em>z"),
        ("$", "$"),
        ("$$ $$ *a*", "$$ $$ <em>a</em>"),
        (r"\\(x*y*z\\)", r"\(x<em>y</em>z\)"),
        (r"\(x*y*z", "(x<em>y</em>z"),
        ("`$a` *b* `$c`", "<code>$a</code> <em>b</em> <code>$c</code>"),
        ("$a\n*b*$", "$a\n<em>b</em>$"),
    ],
)
def test_prices_and_signs_without_an_end_are_text(text: str, html: str) -> None:
    assert render_markdown(text).strip() == f"<p>{html}</p>"


def test_a_formula_does_not_reach_over_an_empty_line() -> None:
    html = render_markdown("\\[\na\n\n- b\n\\]")
    assert "<li>b" in html


@pytest.mark.parametrize("part", ["\\[\n", "$$\n", "\\(", "$a", "$a$", "\\[a\\]\n", "$$\na\n$$\n"])
def test_no_number_of_signs_keeps_a_page_waiting(part: str) -> None:
    from evalsite.pages.cases.texts.case_texts import render_value

    with quick_enough(3.0):
        render_value((part * 20_000)[:20_000])
