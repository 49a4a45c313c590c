"""The options by which commands say how a file of rows is to be read."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from scoring.engine.imports.reader import FileOptions

DELIMITERS: Final = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}
QUOTES: Final = {"double": '"', "single": "'"}
CELLS: Final = ("fill_merged", "skip_hidden", "as_shown")  # of a workbook
NAMES: Final = ("encoding", "delimiter", "quote", "header", "sheet", "skip_lines", *CELLS)
MAX_SKIPPED: Final = 10_000  # lines


def add_file_options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("--encoding", default="", help="such as cp1252, where the file is not UTF-8")
    add("--delimiter", default="", help="one sign or several, or tab")
    add("--quote", default="", choices=["", *QUOTES, "none", *QUOTES.values()], metavar="Q",
        help="what texts are quoted by: double, single or none")  # fmt: skip
    either = parser.add_mutually_exclusive_group().add_argument
    either("--header", action="store_const", const="yes", default="",
        help="the first row holds names, whatever it looks like")  # fmt: skip
    either("--no-header", action="store_const", const="no", dest="header",
        help="the first row holds values, not names")  # fmt: skip
    add("--sheet", default="", metavar="NAME", help="of a workbook; the first unless given")
    add("--skip-lines", type=_line_count, default=0, metavar="N",
        help="skip so many lines above the header")  # fmt: skip
    add("--fill-merged", action="store_true",
        help="of a workbook: give merged cells their value throughout")  # fmt: skip
    add("--skip-hidden", action="store_true", help="of a workbook: leave hidden rows out")
    add("--as-shown", action="store_true",
        help="of a workbook: read numbers as Excel shows them, such as 01234 or 50%%")  # fmt: skip


def _line_count(text: str) -> int:
    if text.isdecimal() and len(text) < 10 and int(text) <= MAX_SKIPPED:
        return int(text)
    raise ArgumentTypeError(f"{text!r} is no number of lines from 0 to {MAX_SKIPPED:,}")


def shown_column(column: str) -> str:
    """A column's name for a terminal."""
    return column if column.isprintable() else repr(column)


def file_options(options: dict[str, Any]) -> FileOptions:
    delimiter, quote = options["delimiter"], options["quote"]
    return {
        "encoding": options["encoding"],
        "delimiter": DELIMITERS.get(delimiter, delimiter),
        "quote": QUOTES.get(quote, quote),
        "header": options["header"],
        "sheet": options["sheet"],
        "skip_lines": options["skip_lines"],
        "fill_merged": options["fill_merged"],
        "skip_hidden": options["skip_hidden"],
        "as_shown": options["as_shown"],
    }
