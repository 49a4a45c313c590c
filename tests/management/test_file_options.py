"""How the options of a command say that a file is to be read."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

import pytest

from scoring.management.file_options import add_file_options, file_options, shown_column

NOTHING = {
    "encoding": "",
    "delimiter": "",
    "quote": "",
    "header": "",
    "sheet": "",
    "skip_lines": 0,
    "fill_merged": False,
    "skip_hidden": False,
    "as_shown": False,
}


def read(*words: str) -> dict[str, Any]:
    parser = ArgumentParser()
    add_file_options(parser)
    return dict(file_options(vars(parser.parse_args(words))))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], {}),
        (["--delimiter=tab", "--quote=single"], {"delimiter": "\t", "quote": "'"}),
        (["--delimiter=\\t", '--quote="'], {"delimiter": "\t", "quote": '"'}),
        (["--delimiter=||", "--quote=none"], {"delimiter": "||", "quote": "none"}),
        (["--header"], {"header": "yes"}),
        (["--no-header", "--skip-lines=10000"], {"header": "no", "skip_lines": 10_000}),
        (
            ["--fill-merged", "--skip-hidden", "--as-shown"],
            {"fill_merged": True, "skip_hidden": True, "as_shown": True},
        ),
        (["--encoding=cp1252", "--sheet=May"], {"encoding": "cp1252", "sheet": "May"}),
    ],
)
def test_words_become_options(words: list[str], said: dict[str, Any]) -> None:
    assert read(*words) == NOTHING | said


@pytest.mark.parametrize(
    "words",
    [
        ["--skip-lines=-1"],
        ["--skip-lines=10001"],
        ["--skip-lines=two"],
        ["--header", "--no-header"],
        ["--quote=x"],
    ],
)
def test_what_cannot_be_meant_is_refused(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        read(*words)
    assert ended.value.code == 2
    assert words[0].split("=")[0] in capsys.readouterr().err


@pytest.mark.parametrize(("column", "shown"), [("Größe", "Größe"), ("a\u202e", r"'a\u202e'")])
def test_a_columns_name_hides_nothing_on_a_terminal(column: str, shown: str) -> None:
    assert shown_column(column) == shown
