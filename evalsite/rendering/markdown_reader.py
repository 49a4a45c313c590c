"""Reads Markdown within limits: no text of a page's length keeps the page waiting.

Real texts of 20,000 characters take up to 2,000 steps and 5 ms, made-up ones 200,000 and a second.
"""

from __future__ import annotations

from typing import Any, Final

from evalsite.rendering.markdown_formulas import add_formulas

MAX_STEPS: Final = 6_000  # attempts to read a block, a line or a mark; about 50 ms
MAX_CELLS: Final = 3_000  # of one table, those too that its rows leave out
MAX_DEPTH: Final = 18  # of blocks inside each other; the reader drops what lies two deeper

_STEPS: Final = "steps"  # taken so far, in what the reader hands on to each rule
_MAY_END: Final = ("paragraph", "reference", "blockquote", "list")  # blocks that another may end


class MarkdownTooLargeError(Exception):
    """A text with more markup than a page sets, or so deep that the reader would drop some."""


def create_parser() -> Any:
    """A reader of CommonMark with tables and verbatim formulas and no HTML.

    What it renders needs an `env` of its own.
    """
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    add_formulas(reader)
    reader.block.ruler.before("table", "limits", _block, {"alt": list(_MAY_END)})
    reader.inline.ruler.before("text", "limits", _inline)
    return reader


def _block(state: Any, start: int, end: int, silent: bool) -> bool:
    """A rule that never applies, asked before every other."""
    _count(state.env)
    if state.level >= MAX_DEPTH:
        raise MarkdownTooLargeError
    if not silent and start + 1 < end and _cells(state, start, end) > MAX_CELLS:
        raise MarkdownTooLargeError
    return False


def _inline(state: Any, _: bool) -> bool:
    _count(state.env)
    return False


def _count(env: Any) -> None:
    env[_STEPS] = env.get(_STEPS, 0) + 1
    if env[_STEPS] > MAX_STEPS:
        raise MarkdownTooLargeError


def _cells(state: Any, start: int, end: int) -> int:
    """Of the table that may begin here: its columns times the lines up to an empty one."""
    rule = _line(state, start + 1)
    columns = rule.count("|") + 1
    if columns < 2 or rule.strip("|-: \t"):
        return 0
    lines = next((line for line in range(start, end) if not _line(state, line).strip()), end)
    return columns * (lines - start)


def _line(state: Any, line: int) -> str:
    text: str = state.src[state.bMarks[line] : state.eMarks[line]]
    return text.lstrip("> \t")
