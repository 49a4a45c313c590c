r"""Formulas in Markdown stay as they were written: `\(…\)`, `\[…\]`, `$…$` and `$$…$$`.

Nothing is set as mathematics. Without these rules Markdown would take the asterisks, underscores
and backslashes of a formula for its own marks, and its lines for lists.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Any, Final

MAX_LINES: Final = 100  # of one formula

_CLOSING: Final = {r"\(": r"\)", r"\[": r"\]", "$$": "$$"}
_DISPLAYED: Final = (r"\[", "$$")
#: A price, where nothing that follows is of a formula: “$5 or *less* than 6$”.
_PRICE: Final = re.compile(r"\d[\d.,]*\s[^\\^_={}+<>/]*\Z")


def add_formulas(reader: Any) -> None:
    """Add the rules for formulas to a markdown-it reader."""
    alternatives = {"alt": ["paragraph", "reference", "blockquote", "list"]}
    reader.block.ruler.before("lheading", "formula", _keep_lines_together, alternatives)
    reader.inline.ruler.before("escape", "formula", _take_verbatim)


def _take_verbatim(state: Any, silent: bool) -> bool:
    end = _find_end(state.src, state.pos)
    if end <= 0:
        return False
    if not silent:
        token = state.push("text", "", 0)
        token.content = state.src[state.pos : end]
    state.pos = end
    return True


def _find_end(text: str, start: int) -> int:
    """Where the formula that begins here ends; 0 where none does."""
    opening = text[start : start + 2]
    if closing := _CLOSING.get(opening):
        end = text.find(closing, start + 2)
        return end + 2 if end > 0 and text[start + 2 : end].strip() else 0
    return _find_dollar(text, start) if opening.startswith("$") else 0


def _find_dollar(text: str, start: int) -> int:
    """As in Pandoc: no space inside the signs, no digit behind them, all in one line."""
    end = text.find("$", start + 1)
    formula = text[start + 1 : end]
    is_formula = (
        end > 0
        and formula == formula.strip() != ""
        and "\n" not in formula
        and not text[start - 1 : start].isalnum()
        and not text[end + 1 : end + 2].isdigit()
        and not _PRICE.match(formula)
    )
    return end + 1 if is_formula else 0


def _keep_lines_together(state: Any, start: int, end: int, silent: bool) -> bool:
    """A formula of several lines is one paragraph, whatever its lines look like."""
    last = _find_last_line(state, start)
    if not start < last < min(end, start + MAX_LINES):
        return False
    inside = range(start + 1, last + 1)
    if any(state.isEmpty(line) or state.sCount[line] < state.blkIndent for line in inside):
        return False
    if not silent:
        _push_paragraph(state, start, last + 1)
    state.line = last + 1
    return True


def _find_last_line(state: Any, start: int) -> int:
    """The line in which the formula ends that this line leaves open; -1 where it leaves none."""
    first, line_end = state.bMarks[start] + state.tShift[start], state.eMarks[start]
    for opening in _DISPLAYED:
        closing = _CLOSING[opening]
        opened = state.src.rfind(opening, first, line_end)
        is_open = opened >= 0 and (
            state.src.count("$$", first, line_end) % 2
            if opening == closing
            else state.src.find(closing, opened, line_end) < 0
        )
        if is_open and (found := state.src.find(closing, opened + 2)) >= 0:
            return bisect_right(state.bMarks, found, start) - 1
    return -1


def _push_paragraph(state: Any, start: int, end: int) -> None:
    state.push("paragraph_open", "p", 1).map = [start, end]
    token = state.push("inline", "", 0)
    token.content = state.getLines(start, end, state.blkIndent, False).strip()
    token.map = [start, end]
    token.children = []
    state.push("paragraph_close", "p", -1)
