"""Texts read as Markdown: only what is on the list comes out, whatever goes in."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalsite.pages.cases.texts.case_texts import MarkdownText, render_value
from evalsite.rendering.safe_html import render_markdown, render_text
from scoring.core.textdiff.text_layout import SHOWN_CHARS, TextLayout
from tests.support.html import Reader
from tests.support.payloads import MARKDOWN, MARKUP, TABLE_HEAD

TAGS = {
    *("a", "blockquote", "br", "code", "em", "hr", "li", "ol", "p", "pre", "s", "span", "strong"),
    *("table", "tbody", "td", "th", "thead", "tr", "ul"),
}
ATTRIBUTES = {"a": {"href", "rel"}, "ol": {"start"}, "p": {"class"}, "span": {"class", "title"}}
CLASSES = {"gap-end", "gap-space", "gap-tab", "invisible", "markdown-head", "markdown-image"}


def set_out(text: str, with_spaces: bool) -> str:
    """As a page has it, also of what is too much to be read as Markdown."""
    found = render_value(text, with_spaces=with_spaces)
    if isinstance(found, MarkdownText):
        return found.html
    return render_text(found.blocks, with_spaces=with_spaces)


def assert_tame(html: str) -> None:
    for tag, attributes in Reader(html).elements:
        assert tag in TAGS
        assert set(attributes) <= ATTRIBUTES.get(tag, set())
        assert set((attributes.get("class") or "").split()) <= CLASSES
        if tag == "a":
            assert attributes["rel"] == "noopener noreferrer nofollow"
            if "href" in attributes:
                assert urlsplit(attributes["href"] or "").scheme in {"http", "https", "mailto"}


@pytest.mark.parametrize("payload", [*MARKDOWN, *MARKUP], ids=range(len(MARKDOWN) + len(MARKUP)))
@pytest.mark.parametrize("with_spaces", [False, True])
def test_no_payload_comes_out_as_anything_but_text_and_links(
    payload: str, with_spaces: bool
) -> None:
    assert_tame(set_out(payload, with_spaces))


FRAGMENTS = st.sampled_from(
    [
        *MARKDOWN[:-2],
        *MARKUP[:8],
        "\n",
        "\n\n",
        "> ",
        "- ",
        "`",
        "```",
        "**",
        "[",
        "](",
        ")",
        "![",
        "|",
    ]
)


@settings(deadline=None)
@given(st.lists(FRAGMENTS | st.text(max_size=8), max_size=8).map("".join), st.booleans())
def test_no_mixture_comes_out_as_anything_but_text_and_links(text: str, with_spaces: bool) -> None:
    assert_tame(set_out(text, with_spaces))


MARK = re.compile(r'<span class="gap-[a-z]*">(\s*)</span>')


@settings(deadline=None)
@given(st.lists(FRAGMENTS | st.text(max_size=8), max_size=8).map("".join))
def test_marks_of_white_space_change_nothing_else(text: str) -> None:
    assert MARK.sub(r"\1", set_out(text, True)) == set_out(text, False)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("a  b", [("space", "  ")]),
        ("a\nb", [("end", "\n")]),
        ("a  \nb", [("end", "\n")]),
        ("`a b`", [("space", " ")]),
        ("```\n\ta b\n```", [("tab", "\t"), ("space", " "), ("end", "\n")]),
        ("![a b](x)", [("space", " ")]),
        ("ab   ", []),
    ],
)
def test_white_space_is_marked_as_far_as_markdown_keeps_it(
    text: str, kinds: list[tuple[str, str]]
) -> None:
    html = render_markdown(text, with_spaces=True)
    assert re.findall(r'<span class="gap-(\w+)">(\s+)</span>', html) == kinds


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("a **b** *c* ~~d~~", "<p>a <strong>b</strong> <em>c</em> <s>d</s></p>"),
        ("# A head", '<p class="markdown-head">A head</p>'),
        ("- a\n- b", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>"),
        ("3. a\n4. b", '<ol start="3">\n<li>a</li>\n<li>b</li>\n</ol>'),
        ("`x < y`", "<p><code>x &lt; y</code></p>"),
        ("```py\nx\n```", "<pre><code>x\n</code></pre>"),
        ("> q", "<blockquote>\n<p>q</p>\n</blockquote>"),
        (
            "[a](https://a.example)",
            '<p><a href="https://a.example" rel="noopener noreferrer nofollow">a</a></p>',
        ),
        (
            "![a *cat*](https://a.example/c.png)",
            '<p><span class="markdown-image">a *cat* (image: https://a.example/c.png)</span></p>',
        ),
        (
            "a\u200bb",
            '<p>a<span class="invisible" title="U+200B zero width space">U+200B</span>b</p>',
        ),
        ("<b>no</b>", "<p>&lt;b&gt;no&lt;/b&gt;</p>"),
    ],
)
def test_markdown_is_read_as_people_mean_it(text: str, html: str) -> None:
    assert render_markdown(text).strip() == html


def test_tables_are_tables() -> None:
    elements = [tag for tag, _ in Reader(render_markdown("|a|b|\n|-|-:|\n|1|2|")).elements]
    assert elements == ["table", "thead", "tr", "th", "th", "tbody", "tr", "td", "td"]


@pytest.mark.parametrize(
    "text", ["\u202e", "&#x202e;", "`\u202e`", "```\n\u202e\n```", "![\u202e](x)"]
)
def test_no_invisible_character_hides_in_markdown(text: str) -> None:
    html = render_markdown(text)
    assert "\u202e" not in Reader(html).text
    assert "right-to-left override" in html


@pytest.mark.parametrize(
    "text",
    [
        "[" * SHOWN_CHARS,
        "a\n" * (SHOWN_CHARS // 2),
        (TABLE_HEAD + "|\n" * SHOWN_CHARS)[:SHOWN_CHARS],
        ">" * 30 + " lost",
        "".join("  " * depth + "- lost\n" for depth in range(30)),
    ],
)
def test_too_much_markup_is_shown_as_it_is_and_said(text: str) -> None:
    found = render_value(text)
    assert isinstance(found, TextLayout)
    assert found.note.startswith("Too much markup")
    assert "".join(each.text for each in found.blocks) == text


@pytest.mark.parametrize("opening", ["> ", "- "])
@pytest.mark.parametrize("depth", range(1, 25))
def test_no_word_is_dropped_however_deep_it_lies(opening: str, depth: int) -> None:
    found = render_value(opening * depth + "deep")
    said = found.html if isinstance(found, MarkdownText) else found.blocks[0].text
    assert "deep" in said


@pytest.mark.parametrize("text", ["\n \n", "[a]: https://a.example\n"])
def test_what_markdown_shows_nothing_of_is_shown_as_it_is(text: str) -> None:
    found = render_value(text)
    assert isinstance(found, TextLayout)
    assert found.note == "As Markdown this text is empty; the text as it is:"


@pytest.mark.parametrize("rows", [10, 500])
def test_a_table_that_people_read_stays_one(rows: int) -> None:
    text = "|a|b|c|\n|-|-|-|\n" + "|one|two|three|\n" * rows + "\n" + "and a word\n" * 200
    found = render_value(text)
    assert isinstance(found, MarkdownText)
    assert found.html.count("<td>") == 3 * rows


def test_a_long_text_is_cut_and_other_values_stay_json() -> None:
    long = render_value("word " * SHOWN_CHARS)
    assert isinstance(long, MarkdownText)
    assert (long.hidden, long.is_empty) == (4 * SHOWN_CHARS, False)
    assert len(re.sub("<.*?>", "", long.html)) <= SHOWN_CHARS + 1
    assert render_value("").is_empty
    assert isinstance(render_value({"a": "**b**"}), TextLayout)
