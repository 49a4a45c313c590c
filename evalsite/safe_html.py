"""HTML made here of texts from outside: the one module whose strings templates do not escape."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from django.utils.safestring import SafeString, mark_safe

from scoring.core.shown import Piece, Stretch


def drawn(stretches: Iterable[Stretch], *, with_spaces: bool) -> SafeString:
    """The text in its stretches: what differs, what is folded, what cannot be seen.

    One string: the template engine takes longer for each piece than the comparison did.
    """
    html = "".join(_stretch(each, with_spaces) for each in stretches)
    return mark_safe(html)  # noqa: S308  every text in it is escaped below


def _stretch(stretch: Stretch, with_spaces: bool) -> str:
    text = "".join(_piece(piece, with_spaces) for piece in stretch.pieces)
    if stretch.folded:
        return _folded(escape(stretch.folded), text)
    if stretch.name:
        return f'<mark class="match" data-name="{escape(stretch.name)}">{text}</mark>'
    return f"<{stretch.tag}>{text}</{stretch.tag}>" if stretch.tag else text


def _folded(label: str, text: str) -> str:
    if not text:
        return f'<span class="diff-skipped">{label}, not shown</span>'
    return f'<details class="diff-fold"><summary>{label}</summary>{text}</details>'


def _piece(piece: Piece, with_spaces: bool) -> str:
    if piece.code:
        line_end = "\n" if piece.is_line_feed else ""
        mark = f'<span class="invisible" title="{escape(piece.name)}">{escape(piece.code)}</span>'
        return mark + line_end
    return _spaced(escape(piece.text)) if with_spaces else escape(piece.text)


def _spaced(markup: str) -> str:
    """White space inside marks that the style draws; escaping has brought in none of its own."""
    markup = markup.replace(" ", '<span class="gap-space"> </span>')
    markup = markup.replace('</span><span class="gap-space">', "")  # one mark for several spaces
    markup = markup.replace("\t", '<span class="gap-tab">\t</span>')
    return markup.replace("\n", '<span class="gap-end">\n</span>')
