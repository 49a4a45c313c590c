r"""JavaScript's regular-expression syntax, rewritten for the engines that `pattern` runs.

Both engines differ from JavaScript in what `.`, `$`, `\s` or `\b` mean, so every construct is
spelled out. The rewriter also counts how large a pattern becomes once its repeats are unrolled,
because both engines unroll them, and refuses what is not JavaScript, such as `\A` or `a++`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, Literal, NoReturn

Engine = Literal["linear", "backtracking"]

MAX_LENGTH: Final = 2_000
MAX_NESTING: Final = 100
MAX_UNROLLED: Final = 20_000  # characters and classes, each counted as often as it repeats

_LAST = 0x10FFFF
_LINE_ENDS: Final = "\n\r\u2028\u2029"
_NAMED_CHARACTERS: Final = {"t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "0": "\0"}

# Code point ranges of the classes that JavaScript defines, in order.
_RANGES: Final[dict[str, tuple[tuple[int, int], ...]]] = {
    "d": ((48, 57),),
    "w": ((48, 57), (65, 90), (95, 95), (97, 122)),
    "s": (
        (9, 13),
        (32, 32),
        (0xA0, 0xA0),
        (0x1680, 0x1680),
        (0x2000, 0x200A),
        (0x2028, 0x2029),
        (0x202F, 0x202F),
        (0x205F, 0x205F),
        (0x3000, 0x3000),
        (0xFEFF, 0xFEFF),
    ),
}
# Long s and the kelvin sign are s and k when case is ignored, so they belong to \w.
_FOLDED_WORD: Final = (*_RANGES["w"], (0x17F, 0x17F), (0x212A, 0x212A))

_QUANTIFIER = re.compile(r"(?:[*+?]|\{(\d{1,9})(,(\d{1,9})?)?\})\??")
_GROUP = re.compile(
    r"\((?:\?(?:(?P<look><?[=!])|P?<(?P<name>[^\W\d][\w$]*)>"
    r"|(?P<on>[ims]*)(?:-(?P<off>[ims]+))?:|(?P<odd>)))?"
)
_LEADING_FLAGS = re.compile(r"\(\?([ims]+)\)")
_CODE_POINT = re.compile(
    r"u\{([0-9a-fA-F]{1,6})\}|u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})"
    r"|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|c([a-zA-Z])"
)
_PROPERTY = re.compile(r"[pP]\{(?:(?:Script|sc|General_Category|gc)=)?(\w+)\}")

#: POSIX classes, which JavaScript does not have, and what to write inside brackets instead.
POSIX_CLASSES: Final = {
    "digit": r"\d", "space": r"\s", "word": r"\w", "alpha": "A-Za-z", "alnum": "A-Za-z0-9",
    "upper": "A-Z", "lower": "a-z", "xdigit": "0-9A-Fa-f", "blank": r" \t",
    "punct": r"!-\/:-@\[-\x60{-~",
    "cntrl": r"\x00-\x1f\x7f", "graph": "!-~", "print": " -~",
}  # fmt: skip
_POSIX_CLASS: Final = re.compile(rf"\[:(\^?)({'|'.join(POSIX_CLASSES)}):\]")


class PatternError(ValueError):
    """A pattern that is not JavaScript, or too large; the text says where."""


class NeedsBacktrackingError(Exception):
    """The pattern uses look-around or back-references, which no linear engine offers."""


def rewrite(pattern: str, flags: str, engine: Engine, *, captures: bool = True) -> str:
    """The same pattern for one of the engines; without `captures` the linear one keeps no groups.

    Raises PatternError, or NeedsBacktrackingError where `engine` is linear.
    """
    if len(pattern) > MAX_LENGTH:
        raise PatternError(f"is longer than {MAX_LENGTH:,} characters")
    if leading := _LEADING_FLAGS.match(pattern):
        pattern, flags = pattern[leading.end() :], flags + leading[1]
    body = _Rewriter(pattern, flags, engine, captures).rewritten()
    shown = f"(?i:{body})" if "i" in flags else f"(?:{body})"
    return rf"\A{shown}" if "y" in flags else shown


def posix_warnings(pattern: str) -> list[str]:
    """A sentence for each POSIX class in the pattern: in JavaScript it is a set of characters."""
    found = dict.fromkeys(_POSIX_CLASS.findall(pattern))
    return [
        f"`[:{negation}{name}:]` is no class in JavaScript, but these characters themselves; "
        f"write `[{negation}{POSIX_CLASSES[name]}]` for `[[:{negation}{name}:]]`."
        for negation, name in found
    ]


@dataclass
class _Frame:
    """One group that is still open, or the whole pattern."""

    flags: str
    number: int = 0  # of a capturing group; 0 otherwise
    repeatable: bool = True  # whether a quantifier may follow the group
    size: int = 0
    last_size: int = 0  # of the part that a quantifier would repeat


@dataclass
class _Rewriter:
    pattern: str
    flags: str
    engine: Engine
    captures: bool
    position: int = 0
    output: list[str] = field(default_factory=list)
    frames: list[_Frame] = field(default_factory=list)
    groups: int = 0
    names: dict[str, int] = field(default_factory=dict)
    wanted: list[int | str] = field(default_factory=list)  # groups that were referred to
    can_repeat: bool = False

    def rewritten(self) -> str:
        self.frames = [_Frame(self.flags)]
        while self.position < len(self.pattern):
            self._next()
        if len(self.frames) > 1:
            self._refuse("a group is not closed")
        self._check_references()
        if self.frames[0].size > MAX_UNROLLED:
            raise PatternError(f"unrolls to more than {MAX_UNROLLED:,} characters")
        return "".join(self.output)

    @property
    def frame(self) -> _Frame:
        return self.frames[-1]

    @property
    def ignores_case(self) -> bool:
        return "i" in self.frame.flags

    def _next(self) -> None:
        character = self.pattern[self.position]
        if character in "*+?{":
            self._quantifier()
        elif character == "(":
            self._open()
        elif character == ")":
            self._close()
        elif character == "[":
            self._class()
        elif character == "\\":
            self._escape()
        else:
            self.position += 1
            self._plain(character)

    def _plain(self, character: str) -> None:
        if character == "|":
            self._assertion("|")
        elif character == "^":
            self._assertion(self._line_start())
        elif character == "$":
            self._assertion(self._line_end())
        elif character == ".":
            ends = "".join(map(_literal, _LINE_ENDS))
            self._atom("(?s:.)" if "s" in self.frame.flags else f"[^{ends}]")
        else:
            self._atom(_literal(character))

    def _atom(self, text: str) -> None:
        self.output.append(text)
        self.frame.size += 1
        self.frame.last_size = 1
        self.can_repeat = True

    def _assertion(self, text: str) -> None:
        self.output.append(text)
        self.can_repeat = False

    def _line_start(self) -> str:
        if "m" not in self.frame.flags:
            return r"\A"
        return "(?m:^)" if self.engine == "linear" else r"(?<![^\n\r\u2028\u2029])"

    def _line_end(self) -> str:
        if "m" not in self.frame.flags:
            return r"\z" if self.engine == "linear" else r"\Z"
        return "(?m:$)" if self.engine == "linear" else r"(?![^\n\r\u2028\u2029])"

    def _quantifier(self) -> None:
        match = _QUANTIFIER.match(self.pattern, self.position)
        if match is None:  # a brace that repeats nothing is itself
            self.position += 1
            self._atom(_literal("{"))
            return
        if not self.can_repeat:
            self._refuse("there is nothing to repeat")
        most = int(match[3] or match[1] or 1)
        if match[3] and most < int(match[1]):
            self._refuse("the repeat counts are the wrong way round")
        self.position = match.end()
        self.output.append(match[0])
        self.frame.size += self.frame.last_size * (most - 1 if most else 0)
        self.can_repeat = False

    def _open(self) -> None:
        match = _GROUP.match(self.pattern, self.position)
        if match is None or match["odd"] is not None:
            self._refuse("this kind of group is not JavaScript")
        if len(self.frames) > MAX_NESTING:
            self._refuse(f"groups are nested deeper than {MAX_NESTING}")
        self.position = match.end()
        if match["look"]:
            self._open_look(match["look"])
        elif match["on"] is not None:
            self._open_plain(match["on"], match["off"] or "")
        else:
            self._open_capture(match["name"])
        self.can_repeat = False

    def _open_look(self, look: str) -> None:
        if self.engine == "linear":
            raise NeedsBacktrackingError
        self.output.append(f"(?{look}")
        self.frames.append(_Frame(self.frame.flags, repeatable=not look.startswith("<")))

    def _open_plain(self, on: str, off: str) -> None:
        flags = "".join(flag for flag in self.frame.flags + on if flag not in off)
        case = "i" if "i" in on else "-i" if "i" in off else ""
        self.output.append(f"(?{case}:")
        self.frames.append(_Frame(flags))

    def _open_capture(self, name: str | None) -> None:
        self.groups += 1
        if name is not None and self.names.setdefault(name, self.groups) != self.groups:
            self._refuse(f"two groups are called {name}")
        is_plain = self.engine == "linear" and not self.captures
        self.output.append("(?:" if is_plain else "(")
        self.frames.append(_Frame(self.frame.flags, self.groups))

    def _close(self) -> None:
        if len(self.frames) == 1:
            self._refuse("a bracket closes no group")
        closed = self.frames.pop()
        self.position += 1
        self.output.append(")")
        self.frame.size += closed.size
        self.frame.last_size = max(closed.size, 1)
        self.can_repeat = closed.repeatable

    def _escape(self) -> None:
        letter = self.pattern[self.position + 1 : self.position + 2]
        if letter in "bB" and letter:
            self.position += 2
            self._assertion(self._boundary(letter))
        elif letter in "123456789" and letter:
            self._numbered_reference()
        elif letter == "k":
            self._named_reference()
        else:
            self._atom(self._set_or_character())

    def _boundary(self, letter: str) -> str:
        if self.engine == "linear":
            return f"\\{letter}"
        word = f"[{_ranges_text(_RANGES['w'])}]"
        if letter == "b":
            return f"(?:(?<={word})(?!{word})|(?<!{word})(?={word}))"
        return f"(?:(?<={word})(?={word})|(?<!{word})(?!{word}))"

    def _numbered_reference(self) -> None:
        match = re.compile(r"\\([1-9]\d{0,3})").match(self.pattern, self.position)
        number = int(match[1]) if match else 0
        self.position += 1 + len(str(number))
        self._reference(number, number)

    def _named_reference(self) -> None:
        match = re.compile(r"\\k<([^\W\d][\w$]*)>").match(self.pattern, self.position)
        if match is None:
            self._refuse("a reference by name reads \\k<name>")
        self.position = match.end()
        self._reference(match[1], self.names.get(match[1], 0))

    def _reference(self, wanted: int | str, number: int) -> None:
        """A group not closed yet, or one that took no part, matches the empty text."""
        if self.engine == "linear":
            raise NeedsBacktrackingError
        self.wanted.append(wanted)
        is_open = any(frame.number == number for frame in self.frames)
        is_ready = 0 < number <= self.groups and not is_open
        self._atom(f"(?({number})(?:\\{number})|)" if is_ready else "(?:)")

    def _check_references(self) -> None:
        for wanted in self.wanted:
            known = wanted in self.names if isinstance(wanted, str) else wanted <= self.groups
            if not known:
                raise PatternError(f"refers to a group {wanted} that it does not have")

    def _set_or_character(self) -> str:
        text, is_set = self._escaped()
        return f"[{text}]" if is_set and text[1:2] not in ("p", "P") else text

    def _escaped(self) -> tuple[str, bool]:
        """An escape inside or outside a class: its text there, and whether it is a set."""
        start = self.position
        self.position += 1
        letter = self.pattern[self.position : self.position + 1]
        if letter and letter in "dDwWsS":
            self.position += 1
            return self._set(letter), True
        if match := _PROPERTY.match(self.pattern, self.position):
            self.position = match.end()
            return f"\\{letter}{{{match[1]}}}", True
        self.position = start
        return _literal(self._escaped_character()), False

    def _set(self, letter: str) -> str:
        folded = letter in "wW" and self.ignores_case
        ranges = _FOLDED_WORD if folded else _RANGES[letter.lower()]
        return _ranges_text(ranges if letter.islower() else _complement(ranges))

    def _escaped_character(self) -> str:
        self.position += 1
        if match := _CODE_POINT.match(self.pattern, self.position):
            self.position = match.end()
            return self._code_point(match)
        letter = self.pattern[self.position : self.position + 1]
        self.position += 1
        if letter in _NAMED_CHARACTERS:
            return _NAMED_CHARACTERS[letter]
        if not letter or (letter.isascii() and letter.isalnum()):
            self._refuse(f"\\{letter} is not an escape in JavaScript")
        return letter

    def _code_point(self, match: re.Match[str]) -> str:
        braces, high, low, four, two, control = match.groups()
        if control:
            return chr(ord(control) % 32)
        if high:
            return chr(0x10000 + (int(high, 16) - 0xD800) * 0x400 + int(low, 16) - 0xDC00)
        number = int(braces or four or two, 16)
        if number > _LAST:
            self._refuse("there is no such character")
        return chr(number)

    def _class(self) -> None:
        self.position += 1
        is_negated = self.pattern.startswith("^", self.position)
        self.position += is_negated
        inner = "".join(self._class_parts())
        if inner:
            self._atom(f"[{'^' * is_negated}{inner}]")
        else:
            never = r"[^\x00-\x{10FFFF}]" if self.engine == "linear" else "(?!)"
            self._atom("(?s:.)" if is_negated else never)

    def _class_parts(self) -> list[str]:
        """The class up to its closing bracket, ranges joined."""
        parts: list[str] = []
        while (character := self.pattern[self.position : self.position + 1]) != "]":
            if not character:
                self._refuse("a class is not closed")
            first, first_is_set = self._class_item()
            if (
                self.pattern.startswith("-", self.position)
                and self.pattern[self.position + 1 :][:1] != "]"
            ):
                self.position += 1
                first = self._range(first, first_is_set)
            parts.append(first)
        self.position += 1
        return parts

    def _range(self, first: str, first_is_set: bool) -> str:
        if self.position >= len(self.pattern):
            self._refuse("a class is not closed")
        last, last_is_set = self._class_item()
        if first_is_set or last_is_set:  # then the hyphen is itself
            return f"{first}{_literal('-')}{last}"
        if _plain_code(first) > _plain_code(last):
            self._refuse("a range is the wrong way round")
        return f"{first}-{last}"

    def _class_item(self) -> tuple[str, bool]:
        if self.pattern.startswith("\\b", self.position):
            self.position += 2
            return _literal("\b"), False
        if self.pattern[self.position] == "\\":
            return self._escaped()
        self.position += 1
        return _literal(self.pattern[self.position - 1]), False

    def _refuse(self, why: str) -> NoReturn:
        raise PatternError(f"{why} (character {min(self.position, len(self.pattern)) + 1})")


def _literal(character: str) -> str:
    """A character that stands for itself in both engines, in a class or outside."""
    if character.isalnum() or character in " _" or ord(character) > 127:
        return character
    return f"\\x{ord(character):02x}"


def _plain_code(literal: str) -> int:
    return ord(literal) if len(literal) == 1 else int("0" + literal[1:], 16)


def _ranges_text(ranges: tuple[tuple[int, int], ...]) -> str:
    return "".join(f"{_literal(chr(low))}-{_literal(chr(high))}" for low, high in ranges)


def _complement(ranges: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    edges = [(-1, -1), *ranges, (_LAST + 1, _LAST + 1)]
    return tuple((low[1] + 1, high[0] - 1) for low, high in pairwise(edges) if low[1] + 1 < high[0])
