"""Regular expressions that cannot block a worker: RE2, else an engine with a time limit.

Used by the `regex` type and by `matches` in expressions. The syntax is JavaScript's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import islice
from time import monotonic
from typing import Any, Final, NamedTuple

from scoring.core.contract import ConfigError, OutsideProblem
from scoring.core.scorers.js_pattern import NeedsBacktrackingError, PatternError, rewrite

FLAGS: Final = "imsugy"
TIME_LIMIT_SECONDS: Final = 1.0
# RE2 takes program size times text length steps at worst, about 10^8 a second.
MAX_LINEAR_STEPS: Final = 100_000_000

_LITERAL = re.compile(r"/(?P<body>(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)/(?P<flags>[a-z]*)")
_ODD_LINE_ENDS = re.compile("[\r\u2028\u2029]")


class Matches(NamedTuple):
    """Spans of characters in order, some perhaps empty, and whether these are all there are."""

    spans: list[tuple[int, int]]
    is_all: bool


@dataclass(frozen=True)
class Pattern:
    """A compiled pattern. `linear` is None when only the second engine can run it."""

    source: str
    flags: str
    linear: Any  # RE2's own object: bytes in, spans out
    size: int  # of RE2's program

    def is_in(self, text: str) -> bool:
        """Whether the pattern is found anywhere in the text.

        Raises OutsideProblem `pattern_timeout` after a second.
        """
        if self._needs_backtracking(text):
            return self._is_in_slowly(text)
        encoded = text.encode("utf-8", "replace")
        if self.size * len(encoded) > MAX_LINEAR_STEPS:
            return self._is_in_slowly(text)
        return bool(self.linear.Match(_anywhere(), encoded, 0, len(encoded))[0] != (-1, -1))

    def first_group(self, text: str, seconds: float | None = None) -> tuple[int, int] | None:
        """The characters of the first group in the first match, or of the match where the pattern
        has no group; None where there is no match, or the group takes no part in it.

        Raises OutsideProblem `pattern_timeout` after so many seconds, by default one.
        """
        seconds = seconds or TIME_LIMIT_SECONDS
        encoded = text.encode("utf-8", "replace")
        is_quick = self.size * len(encoded) <= MAX_LINEAR_STEPS * seconds
        if self._needs_backtracking(text) or not is_quick or self._capturing is None:
            match = self._search_slowly(text, seconds)
            span = match.span(min(1, self._backtracking.groups)) if match else (-1, -1)
            return span if span[0] >= 0 else None
        spans = self._capturing.Match(_anywhere(), encoded, 0, len(encoded))
        span = spans[min(1, len(spans) - 1)]
        if span[0] < 0:
            return None
        return span if text.isascii() else next(_by_characters(encoded, [span]))

    def places(self, text: str, most: int, seconds: float) -> Matches:
        """The first matches, at most so many, as far as they are found in that time.

        Raises OutsideProblem `pattern_timeout` where one match alone may take longer.
        """
        encoded = text.encode("utf-8", "replace")
        is_quick = self.size * len(encoded) <= MAX_LINEAR_STEPS * seconds
        if self._needs_backtracking(text) or not is_quick:
            return self._places_slowly(text, most, seconds)
        until = monotonic() + seconds
        spans = list(islice(_linear_spans(self.linear, encoded, until), most))
        is_all = len(spans) < most and monotonic() < until
        return Matches(spans if text.isascii() else list(_by_characters(encoded, spans)), is_all)

    def _places_slowly(self, text: str, most: int, seconds: float) -> Matches:
        matches = self._backtracking.finditer(text, timeout=seconds, concurrent=True)
        try:
            spans = [match.span() for match in islice(matches, most)]
        except TimeoutError:
            raise _too_slow(seconds) from None
        return Matches(spans, len(spans) < most)

    def _is_in_slowly(self, text: str) -> bool:
        return bool(self._places_slowly(text, 1, TIME_LIMIT_SECONDS).spans)

    def _search_slowly(self, text: str, seconds: float) -> Any:
        try:
            return self._backtracking.search(text, timeout=seconds, concurrent=True)
        except TimeoutError:
            raise _too_slow(seconds) from None

    def _needs_backtracking(self, text: str) -> bool:
        return self.linear is None or bool("m" in self.flags and _ODD_LINE_ENDS.search(text))

    @cached_property
    def _backtracking(self) -> Any:
        return _compile_backtracking(self.source, self.flags)

    @cached_property
    def _capturing(self) -> Any:
        """RE2's program with the groups kept; None when it finds that too large."""
        return _compile_linear(rewrite(self.source, self.flags, "linear"), captures=True)


@lru_cache(maxsize=512)
def compile_pattern(pattern: str, flags: str = "") -> Pattern:
    """The pattern ready to search. Raises ConfigError on `pattern` or `flags`.

    `pattern` may be a literal such as `/yes|no/i`; its flags add to the others.
    """
    _check_flags(flags)
    literal = _LITERAL.fullmatch(pattern)
    if literal is not None and set(literal["flags"]) <= set(FLAGS):
        pattern, flags = literal["body"], "".join(sorted(set(flags + literal["flags"])))
    try:
        return _compile(pattern, flags)
    except PatternError as refused:
        raise ConfigError({"pattern": [str(refused)]}) from None


def _too_slow(seconds: float) -> OutsideProblem:
    why = f"the pattern took longer than {seconds:g} s on this output"
    return OutsideProblem("pattern_timeout", why)


def _linear_spans(linear: Any, encoded: bytes, until: float) -> Iterator[tuple[int, int]]:
    """Spans of bytes. A match is found in linear time, and the clock is read between them."""
    position, size = 0, len(encoded)
    while position <= size and monotonic() < until:
        start, end = linear.Match(_anywhere(), encoded, position, size)[0]
        if start < 0:
            return
        yield start, end
        position = end if end > start else _next_character(encoded, end)


def _next_character(encoded: bytes, position: int) -> int:
    position += 1
    while position < len(encoded) and encoded[position] & 0xC0 == 0x80:
        position += 1
    return position


def _by_characters(encoded: bytes, spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The spans, counted in characters instead of bytes."""
    done = count = 0
    for start, end in spans:
        count += len(encoded[done:start].decode())
        length = len(encoded[start:end].decode())
        yield count, count + length
        done, count = end, count + length


def _check_flags(flags: str) -> None:
    unknown = sorted(set(flags) - set(FLAGS))
    if unknown:
        allowed = ", ".join(FLAGS)
        raise ConfigError({"flags": [f"{unknown[0]!r} is not a flag; use some of {allowed}"]})
    if len(set(flags)) < len(flags):
        raise ConfigError({"flags": ["names a flag twice"]})


def _compile(source: str, flags: str) -> Pattern:
    try:
        linear = _compile_linear(rewrite(source, flags, "linear", captures=False))
    except NeedsBacktrackingError:
        linear = None
    if linear is None:
        _compile_backtracking(source, flags)
    return Pattern(source, flags, linear, linear.ProgramSize() if linear else 0)


def _compile_linear(rewritten: str, *, captures: bool = False) -> Any:
    """RE2's program, or None when RE2 cannot express the pattern or finds it too large."""
    # The inner module: the outer one counts the characters before every match.
    from re2 import Options, _re2

    options = Options()
    options.log_errors = False
    options.never_capture = not captures
    try:
        program = _re2.RE2(rewritten.encode(), options)
    except UnicodeEncodeError:
        raise PatternError("holds half a character (a lone surrogate)") from None
    return program if program.ok() else None


@lru_cache(maxsize=128)
def _compile_backtracking(source: str, flags: str) -> Any:
    import regex

    try:
        return regex.compile(rewrite(source, flags, "backtracking"), regex.VERSION0)
    except (regex.error, RecursionError, OverflowError) as refused:
        raise PatternError(f"does not compile: {refused}") from None


@cache
def _anywhere() -> Any:
    from re2 import _re2

    return _re2.RE2.Anchor.UNANCHORED
