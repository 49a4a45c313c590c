"""HTML made here of texts from outside: the one module whose strings templates do not escape."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from html import escape
from typing import Any, Final

from django.utils.safestring import SafeString, mark_safe

from evalsite.markdown_reader import commonmark
from scoring.core.shown import Piece, Stretch, Tag, marked

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


def drawn(stretches: Iterable[Stretch], *, with_spaces: bool) -> SafeString:
    """The text in its stretches: what differs, what is folded, what cannot be seen.

    One string: the template engine takes longer for each piece than the comparison did.
    """
    html = "".join(_stretch(each, with_spaces) for each in stretches)
    return mark_safe(html)  # noqa: S308  every text in it is escaped below


def leaf(text: str | None, tag: Tag, *, with_spaces: bool, since: int = 0) -> str:
    """A JSON leaf from one of its characters on as far as there is room, or that there is none.

    A piece for `joined`.
    """
    if text is None:
        return '<span class="muted">nothing</span>'
    element = tag or "span"
    return f'<{element} class="id">{line(_in_sight(text, since), with_spaces)}</{element}>'


def line(text: str, with_spaces: bool = False) -> str:
    """A short text with what cannot be seen marked; a piece for `joined`."""
    if text.isascii() and text.isprintable() and not with_spaces:
        return escape(text)
    return "".join(_piece(piece, with_spaces) for piece in marked(text))


def _in_sight(text: str, since: int) -> str:
    rest = f"…{text[since:]}" if 0 < since < len(text) else text
    return rest if len(rest) <= LEAF else rest[: LEAF - 1] + "…"


def joined(pieces: Iterable[str]) -> SafeString:
    """Pieces whose makers have escaped every text in them, one after another."""
    return mark_safe("".join(pieces))  # noqa: S308  as the makers promise


def _stretch(stretch: Stretch, with_spaces: bool) -> str:
    is_blank = stretch.tag in ("del", "ins") and stretch.text.isspace()
    text = "".join(_piece(piece, with_spaces or is_blank) for piece in stretch.pieces)
    if stretch.folded:
        text = _folded(escape(stretch.folded), text)
    elif stretch.name:
        text = f'<mark class="match" title="{_spelled(stretch.name)}">{text}</mark>'
    elif stretch.tag:
        text = f"<{stretch.tag}>{text}</{stretch.tag}>"
    return _level(stretch.empty_lines) + text if stretch.empty_lines else text


@lru_cache(maxsize=64)  # few names, and hundreds of matches
def _spelled(name: str) -> str:
    """A name for an attribute, where no mark fits in: what cannot be seen by its code."""
    return escape("".join(piece.code or piece.text for piece in marked(name)))


def _level(lines: int) -> str:
    """Empty lines without a line end, which the text itself does not have."""
    return f'<span class="diff-level" aria-hidden="true">{"<br>" * lines}</span>'


def _folded(label: str, text: str) -> str:
    if not text:
        return f'<span class="diff-skipped">{label}, not shown</span>'
    return f'<details class="diff-fold"><summary>{label}</summary>{text}</details>'


def _piece(piece: Piece, with_spaces: bool) -> str:
    if piece.code:
        return _mark(piece)
    return _spaced(escape(piece.text)) if with_spaces else escape(piece.text)


@lru_cache(maxsize=1024)  # a text has few kinds and may have thousands of each
def _mark(piece: Piece) -> str:
    line_end = "\n" if piece.is_line_feed else ""
    code, name = escape(piece.code), escape(piece.name)
    return f'<span class="invisible" title="{name}">{code}</span>{line_end}'


def _spaced(markup: str) -> str:
    """White space inside marks that the style draws; escaping has brought in none of its own."""
    markup = markup.replace(" ", '<span class="gap-space"> </span>')
    markup = markup.replace('</span><span class="gap-space">', "")  # one mark for several spaces
    markup = markup.replace("\t", '<span class="gap-tab">\t</span>')
    return markup.replace("\n", '<span class="gap-end">\n</span>')


# Markdown.

_SPACES: Final = "with_spaces"  # in what markdown-it hands on to each part


def markdown(text: str, *, with_spaces: bool = False) -> SafeString:
    """The text as CommonMark with tables. HTML in it is text; nothing is loaded from elsewhere.

    White space is marked as far as Markdown keeps it, which is not at the ends of lines.
    markdown-it escapes what it does not write itself; whatever slipped through, nh3 takes out.
    Raises TooMuchError where reading it would take too long, or would drop what lies too deep.
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
    reader = commonmark()
    for kind, written in _WRITTEN.items():
        reader.add_render_rule(kind, written)
    return reader


def _visible(text: str, env: Mapping[str, Any]) -> str:
    return line(text, env[_SPACES])


def _text(_: Any, tokens: Sequence[Any], at: int, __: Any, env: Mapping[str, Any]) -> str:
    return _visible(tokens[at].content, env)


def _code(*given: Any) -> str:
    return f"<code>{_text(*given)}</code>"


def _block_of_code(*given: Any) -> str:
    return f"<pre><code>{_text(*given)}</code></pre>\n"


def _end_of_line(_: Any, __: Any, ___: Any, ____: Any, env: Mapping[str, Any]) -> str:
    return _visible("\n", env)


def _broken_line(*given: Any) -> str:
    return f"{_end_of_line(*given)}<br>"


def _image(_: Any, tokens: Sequence[Any], at: int, __: Any, env: Mapping[str, Any]) -> str:
    """What it shows in words, and its address as text: a page asks no other host for anything."""
    address = str(tokens[at].attrGet("src") or "")
    words = _visible(tokens[at].content, env)
    return f'<span class="markdown-image">{words} (image: {_visible(address, env)})</span>'


def _head(*_: Any) -> str:
    """A paragraph: the heads of an output are no heads of the page."""
    return '<p class="markdown-head">'


def _end_of_head(*_: Any) -> str:
    return "</p>\n"


_WRITTEN: Final = {
    "text": _text,
    "code_inline": _code,
    "code_block": _block_of_code,
    "fence": _block_of_code,
    "softbreak": _end_of_line,
    "hardbreak": _broken_line,
    "image": _image,
    "heading_open": _head,
    "heading_close": _end_of_head,
}
