"""HTML made here of texts from outside: the one module whose strings templates do not escape."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from html import escape
from typing import Any, Final

from django.utils.safestring import SafeString, mark_safe

from evalsite.rendering.markdown_reader import create_parser
from scoring.core.textdiff.text_layout import Block, Span, Tag, mark_spans

LEAF: Final = 300  # characters that a cell shows
_TAGS: Final = frozenset(
    [
        *("a", "blockquote", "br", "code", "em", "hr", "li", "ol", "p", "pre", "s", "span"),
        *("strong", "table", "tbody", "td", "th", "thead", "tr", "ul"),
    ]
)
_ATTRIBUTES: Final[dict[str, set[str]]] = {
    "*": set(),
    "a": {"href"},
    "ol": {"start"},
    "span": {"title"},
}
_CLASSES: Final = {
    "p": {"markdown-head"},
    "span": {"gap-end", "gap-space", "gap-tab", "invisible", "markdown-image"},
}


def render_text(blocks: Iterable[Block], *, with_spaces: bool) -> SafeString:
    """The text in its blocks: what differs, what is folded, what cannot be seen.

    One string: the template engine takes longer for each span than the comparison did.
    """
    html = "".join(_block_html(block, with_spaces) for block in blocks)
    return mark_safe(html)  # noqa: S308  every text in it is escaped below


def render_leaf(text: str | None, tag: Tag, *, with_spaces: bool, since: int = 0) -> str:
    """A JSON leaf from one of its characters on, truncated, or that there is none.

    A span for `join_safe`.
    """
    if text is None:
        return '<span class="muted">nothing</span>'
    element = tag or "span"
    rest = f"…{text[since:]}" if 0 < since < len(text) else text
    opening = rest if len(rest) <= LEAF else rest[: LEAF - 1] + "…"
    return f'<{element} class="id">{render_line(opening, with_spaces)}</{element}>'


def render_line(text: str, with_spaces: bool = False) -> str:
    """A short text with what cannot be seen marked; a span for `join_safe`."""
    if text.isascii() and text.isprintable() and not with_spaces:
        return escape(text)
    return "".join(_span_html(span, with_spaces) for span in mark_spans(text))


def join_safe(pieces: Iterable[str]) -> SafeString:
    """Pieces whose makers have escaped every text in them, one after another."""
    return SafeString("".join(pieces))


def _block_html(block: Block, with_spaces: bool) -> str:
    is_blank = block.tag in ("del", "ins") and block.text.isspace()
    text = "".join(_span_html(span, with_spaces or is_blank) for span in block.spans)
    if block.folded:
        text = _folded(escape(block.folded), text)
    elif block.name:
        text = f'<mark class="match" title="{_spelled(block.name)}">{text}</mark>'
    elif block.tag:
        text = f"<{block.tag}>{text}</{block.tag}>"
    if block.empty_lines:  # without line ends, which the text itself does not have
        breaks = "<br>" * block.empty_lines
        return f'<span class="diff-level" aria-hidden="true">{breaks}</span>{text}'
    return text


@lru_cache(maxsize=64)  # few names, and hundreds of matches
def _spelled(name: str) -> str:
    """A name for an attribute, where no mark fits in: what cannot be seen by its code."""
    return escape("".join(span.code or span.text for span in mark_spans(name)))


def _folded(label: str, text: str) -> str:
    if not text:
        return f'<span class="diff-skipped">{label}, not shown</span>'
    return f'<details class="diff-fold"><summary>{label}</summary>{text}</details>'


def _span_html(span: Span, with_spaces: bool) -> str:
    if span.code:
        return _mark(span)
    return _spaced(escape(span.text)) if with_spaces else escape(span.text)


@lru_cache(maxsize=1024)  # a text has few kinds and may have thousands of each
def _mark(span: Span) -> str:
    line_end = "\n" if span.is_line_feed else ""
    code, name = escape(span.code), escape(span.name)
    return f'<span class="invisible" title="{name}">{code}</span>{line_end}'


def _spaced(markup: str) -> str:
    """White space inside marks that the style draws; escaping has brought in none of its own."""
    markup = markup.replace(" ", '<span class="gap-space"> </span>')
    markup = markup.replace('</span><span class="gap-space">', "")  # one mark for several spaces
    markup = markup.replace("\t", '<span class="gap-tab">\t</span>')
    return markup.replace("\n", '<span class="gap-end">\n</span>')


# Markdown.

_SPACES: Final = "with_spaces"  # in what markdown-it hands on to each part


def render_markdown(text: str, *, with_spaces: bool = False) -> SafeString:
    """The text as CommonMark with tables. HTML in it is text; nothing is loaded from elsewhere.

    White space is marked as far as Markdown keeps it, which is not at the ends of lines.
    markdown-it escapes what it does not write itself; whatever slipped through, nh3 takes out.
    Raises MarkdownTooLargeError where reading it would take too long, or would drop what lies too
    deep.
    """
    import nh3

    html = nh3.clean(
        _commonmark().render(text, {_SPACES: with_spaces}),
        tags=set(_TAGS),
        attributes={name: set(allowed) for name, allowed in _ATTRIBUTES.items()},
        allowed_classes=_CLASSES,
        url_schemes={"http", "https", "mailto"},
        url_relative="deny",
        link_rel="noopener noreferrer nofollow",
    )
    return mark_safe(html)  # noqa: S308  cleaned with a list of what is allowed


@cache
def _commonmark() -> Any:
    reader = create_parser()
    for kind, rule in _RENDER_RULES.items():
        reader.add_render_rule(kind, rule)
    return reader


# Render rules take the renderer, the tokens, the index of theirs, options and `env`.


def _text(_: Any, tokens: Sequence[Any], index: int, __: Any, env: Mapping[str, Any]) -> str:
    return render_line(tokens[index].content, env[_SPACES])


def _inline_code(*arguments: Any) -> str:
    return f"<code>{_text(*arguments)}</code>"


def _code_block(*arguments: Any) -> str:
    return f"<pre><code>{_text(*arguments)}</code></pre>\n"


def _soft_break(_: Any, __: Any, ___: Any, ____: Any, env: Mapping[str, Any]) -> str:
    return render_line("\n", env[_SPACES])


def _hard_break(*arguments: Any) -> str:
    return f"{_soft_break(*arguments)}<br>"


def _image(_: Any, tokens: Sequence[Any], index: int, __: Any, env: Mapping[str, Any]) -> str:
    """Its description and its address as text: a page requests nothing from other hosts."""
    address = render_line(str(tokens[index].attrGet("src") or ""), env[_SPACES])
    description = render_line(tokens[index].content, env[_SPACES])
    return f'<span class="markdown-image">{description} (image: {address})</span>'


_RENDER_RULES: Final[dict[str, Callable[..., str]]] = {
    "text": _text,
    "code_inline": _inline_code,
    "code_block": _code_block,
    "fence": _code_block,
    "softbreak": _soft_break,
    "hardbreak": _hard_break,
    "image": _image,
    # Paragraphs: the headings of an output are no headings of the page.
    "heading_open": lambda *_: '<p class="markdown-head">',
    "heading_close": lambda *_: "</p>\n",
}
