"""Where in an output `regex` and `includes` find what they look for, and what they do not find.

For pages: within limits of its own, so that no pattern keeps a page waiting. The score stands as
it was stored, whatever is found here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Final, NamedTuple

from scoring.core.bound import BoundScorer, bind
from scoring.core.contract import Case, CaseProblem, ConfigError, Json, Result
from scoring.core.json_text import text_of
from scoring.core.pattern import compile_pattern
from scoring.core.scorers.combine import CombineConfig
from scoring.core.scorers.text import IncludesConfig, RegexConfig
from scoring.core.selection import WHOLE, excerpt, expected_text, selected
from scoring.core.shown import Shown
from scoring.core.sides import Span, folded, stretches

MOST: Final = 500  # places of one text or pattern
MAX_CHARS: Final = 200_000  # of an output that are searched
MAX_WANTED: Final = 100  # texts that one scorer looks for
SECONDS: Final = 0.2  # for one pattern

_ONLY_FIRST: Final = "or more often; only these are marked"
_EMPTY: Final = "found, as an empty text, which has no mark"
_SEARCHING: Final = frozenset({"includes", "regex"})
Place = tuple[int, int]


class Search(NamedTuple):
    """What one scorer looked for, in a text, and where that is. `problem` says what was not done.

    `part` names the part of a JSON output that the text is, "" for all of it.
    """

    by: str
    wanted: str
    part: str
    text: str
    places: Sequence[Place] = ()
    is_found: bool = False
    problem: str = ""

    @property
    def name(self) -> str:
        """As a mark bears it."""
        return f"{self.by}: {self.wanted}"


class Searched(NamedTuple):
    """A text with every place marked that some scorer found in it."""

    part: str
    text: Shown


def searches_texts(type_name: str, config: Mapping[str, Json]) -> bool:
    """Whether the scorer, or a part of it, looks for texts or patterns."""
    parts = config.get("scorers", ())
    return type_name in _SEARCHING or any(
        isinstance(part, Mapping) and searches_texts(part.get("type", ""), part.get("config", {}))
        for part in (parts if isinstance(parts, Sequence) else ())
    )


def searches(name: str, type_name: str, config: Mapping[str, Json], case: Case) -> list[Search]:
    """Everything the scorer and its parts look for; nothing where its type has changed since."""
    try:
        scorer = bind(type_name, config)
    except ConfigError:
        return []
    return list(_of_scorer(name, scorer, case))


def searched(found: Iterable[Search]) -> list[Searched]:
    """Each text that was searched, once, with all that was found in it."""
    by_text: dict[tuple[str, str], list[Search]] = {}
    for search in found:
        by_text.setdefault((search.part, search.text), []).append(search)
    return [Searched(part, _marked(text, searches)) for (part, text), searches in by_text.items()]


def _of_scorer(name: str, scorer: BoundScorer, case: Case) -> Iterator[Search]:
    config = scorer.config
    if isinstance(config, CombineConfig):
        for child in config.children:
            yield from _of_scorer(f"{name} / {child.name}", child.scorer, case)
    elif isinstance(config, IncludesConfig | RegexConfig):
        yield from _in_target(name, config, case)


def _in_target(name: str, config: IncludesConfig | RegexConfig, case: Case) -> Iterator[Search]:
    key = config.target_output_key
    part = "" if key == WHOLE else key if isinstance(key, str) else ", ".join(key)
    try:
        chosen = selected(case, config)
        if isinstance(chosen, Result):
            return
        blank = Search(name, "", part, text_of(chosen.output))
        if isinstance(config, RegexConfig):
            yield _by_pattern(blank, config)
        else:
            wanted = config.values or (expected_text(chosen.expected),)
            yield from (_by_text(blank, each, config) for each in wanted[:MAX_WANTED])
    except CaseProblem:
        return  # the score says so


def _by_pattern(blank: Search, config: RegexConfig) -> Search:
    flags = f" {config.flags}" if config.flags else ""
    search = blank._replace(wanted=f"{config.pattern}{flags}")
    try:
        pattern = compile_pattern(config.pattern, config.flags)
        spans, is_all = pattern.places(blank.text[:MAX_CHARS], MOST, SECONDS)
    except (CaseProblem, ConfigError):
        return search._replace(problem="takes too long to be marked on a page")
    places = [(start, end) for start, end in spans if end > start]
    problem = _cut(blank.text) if is_all else _ONLY_FIRST
    if spans and not places:
        problem = _EMPTY
    return search._replace(places=places, is_found=bool(spans), problem=problem)


def _by_text(blank: Search, wanted: str, config: IncludesConfig) -> Search:
    text, sought = blank.text, wanted
    if not config.case_sensitive:
        text, sought = text.lower(), wanted.lower()
    is_found = sought in text
    start = text[:MAX_CHARS]
    places = list(_found_in(start, sought)) if sought else []
    if len(blank.text) != len(text):
        places = _before_lowering(blank.text, places)
    problem = _cut(blank.text) if len(places) < MOST else _ONLY_FIRST
    return blank._replace(wanted=excerpt(wanted), places=places, is_found=is_found, problem=problem)


def _found_in(text: str, sought: str) -> Iterator[Place]:
    at = text.find(sought)
    for _ in range(MOST):
        if at < 0:
            return
        yield at, at + len(sought)
        at = text.find(sought, at + len(sought))


def _before_lowering(text: str, places: Sequence[Place]) -> list[Place]:
    """The places in the text itself, of which some letter became two in lower case."""
    ends = list(accumulate(len(char.lower()) for char in text[:MAX_CHARS]))
    whose = [at for at, end in enumerate(ends) for _ in range(end - (ends[at - 1] if at else 0))]
    return [(whose[start], whose[end - 1] + 1) for start, end in places if end <= len(whose)]


def _cut(text: str) -> str:
    return f"marked in the first {MAX_CHARS:,} characters" if len(text) > MAX_CHARS else ""


def _marked(text: str, found: Sequence[Search]) -> Shown:
    spans = list(_spans(text, found))
    shown = list(stretches(folded(spans), "unmatched"))
    return Shown(shown, len(text) - sum(len(each.text) + each.skipped for each in shown))


def _spans(text: str, found: Sequence[Search]) -> Iterator[Span]:
    """The text cut where a place begins or ends; a mark where several overlap bears all names."""
    changes = sorted(
        (at, is_start, search.name)
        for search in found
        for place in search.places
        for at, is_start in zip(place, (True, False), strict=True)
    )
    open_names: dict[str, int] = {}
    done = 0
    for at, is_start, name in changes:
        if at > done:
            yield _span(text[done:at], open_names)
            done = at
        open_names[name] = open_names.get(name, 0) + (1 if is_start else -1)
    if done < len(text):
        yield _span(text[done:], {})


def _span(text: str, open_names: Mapping[str, int]) -> Span:
    names = [name for name, count in open_names.items() if count]
    return Span("mark", text, name="; ".join(names)) if names else Span("", text)
