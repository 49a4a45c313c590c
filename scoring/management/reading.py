"""The options by which commands say how a file of rows is to be read."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any, Final

from scoring.engine.loading.reading import Options

DELIMITERS: Final = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}
QUOTES: Final = {"double": '"', "single": "'"}
NAMES: Final = ("encoding", "delimiter", "quote", "header", "sheet")


def add_reading_options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("--encoding", default="", help="such as cp1252, where the file is not UTF-8")
    add("--delimiter", default="", help="a sign, or tab")
    add("--quote", default="", choices=["", *QUOTES, "none", *QUOTES.values()], metavar="Q",
        help="what texts are quoted by: double, single or none")  # fmt: skip
    either = parser.add_mutually_exclusive_group().add_argument
    either("--header", action="store_const", const="yes", default="",
        help="the first row holds names, whatever it looks like")  # fmt: skip
    either("--no-header", action="store_const", const="no", dest="header",
        help="the first row holds values, not names")  # fmt: skip
    add("--sheet", default="", metavar="NAME", help="of a workbook; the first unless given")


def reading_options(options: dict[str, Any]) -> Options:
    delimiter, quote = options["delimiter"], options["quote"]
    return {
        "encoding": options["encoding"],
        "delimiter": DELIMITERS.get(delimiter, delimiter),
        "quote": QUOTES.get(quote, quote),
        "header": options["header"],
        "sheet": options["sheet"],
    }
