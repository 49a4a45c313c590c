"""The tokens and literals of expressions."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

MAX_LENGTH: Final = 2_000  # characters of an expression

_TOKEN = re.compile(
    r"""(?P<space>(?:\s|//[^\n]*)+)
    |(?P<number>0x[0-9a-fA-F]+u?|\d+\.\d+(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\d+u?)
    |(?P<text>[rR]?(?:\"\"\"(?s:(?:[^\\]|\\.)*?)\"\"\"|'''(?s:(?:[^\\]|\\.)*?)'''
        |"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'))
    |(?P<name>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<mark>&&|\|\||[=!<>]=|[?:.,()\[\]{}+\-*/%<>!])""",
    re.VERBOSE,
)
_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|(?s:(.)))"
)
_CONTROLS: Final = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


class SyntaxProblemError(ValueError):
    """An expression that cannot be read; the text says where."""


class Token(NamedTuple):
    kind: str  # number, text, name, mark or end
    text: str
    position: int


def tokenize(source: str) -> list[Token]:
    """The tokens of an expression, closed by one of kind `end`."""
    if len(source) > MAX_LENGTH:
        raise SyntaxProblemError(f"is longer than {MAX_LENGTH:,} characters")
    tokens: list[Token] = []
    position = 0
    while position < len(source):
        match = _TOKEN.match(source, position)
        if match is None:
            raise SyntaxProblemError(f"cannot be read at character {position + 1}")
        if match.lastgroup != "space":
            tokens.append(Token(str(match.lastgroup), match[0], position))
        position = match.end()
    return [*tokens, Token("end", "the end", position)]


def number(text: str) -> float:
    """The value of a number token."""
    digits = text.rstrip("u")
    return float(int(digits, 16)) if digits.startswith("0x") else float(digits)


def text_value(text: str) -> str:
    """The value of a text token."""
    is_raw = text[0] in "rR"
    quoted = text[1:] if is_raw else text
    width = 3 if quoted[:3] in ('"""', "'''") else 1
    inner = quoted[width:-width]
    return inner if is_raw else _ESCAPE.sub(_unescape, inner)


def _unescape(match: re.Match[str]) -> str:
    two, four, eight, octal, single = match.groups()
    if single is not None:
        return _CONTROLS.get(single, single)
    code = int(octal, 8) if octal else int(two or four or eight, 16)
    if code > 0x10FFFF:
        raise SyntaxProblemError("names a character that does not exist")
    return chr(code)
