"""The matches of `regex` and `includes` in an output, and the places of extracted answers.

For pages, within limits of its own, so that no pattern delays a page for long. The stored score
does not depend on what is found here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, starmap
from typing import Final, NamedTuple

from scoring.core.configured import ConfiguredScorer, configure_scorer
from scoring.core.contract import Case, CaseProblem, ConfigError, Json, Result
from scoring.core.json_text import to_text
from scoring.core.registry import find_type
from scoring.core.scorers.answers import find_answers
from scoring.core.scorers.combinations import CombineConfig
from scoring.core.scorers.extraction import Extraction
from scoring.core.scorers.pattern import compile_pattern
from scoring.core.scorers.selection import (
    WHOLE,
    TargetConfig,
    expected_text,
    quote_excerpt,
    select_expected,
    select_searched,
    select_target,
)
from scoring.core.scorers.text import IncludesConfig, RegexConfig
from scoring.core.textdiff.side_by_side import (
    Fragment,
    block_length,
    build_blocks,
    fold_fragments,
)
from scoring.core.textdiff.text_layout import TextLayout

MAX_MATCHES: Final = 500  # places of one text or pattern
MAX_CHARS: Final = 200_000  # of an output that are searched
MAX_WANTED: Final = 100  # texts that one scorer looks for
SECONDS: Final = 0.2  # for one pattern

_ONLY_FIRST: Final = "or more often; only these are marked"
_EMPTY: Final = "found, as an empty text, which has no mark"
CharRange = tuple[int, int]


class TextSearch(NamedTuple):
    """What one scorer looked for in a text, and where it is. `problem` names what is incomplete.

    `part` names the part of the output that the text is, "" for all of it.
    """

    by: str
    wanted: str
    part: str
    text: str
    places: Sequence[CharRange] = ()
    is_found: bool = False
    problem: str = ""
    side: str = "output"  # or "expected"

    @property
    def name(self) -> str:
        """As a mark bears it."""
        return f"{self.by}: {self.wanted}"


class MarkedText(NamedTuple):
    """A text with every place marked that some scorer found in it."""

    side: str
    part: str
    text: TextLayout


def has_text_search(type_name: str, config: Mapping[str, Json]) -> bool:
    """Whether the scorer, or a part of it, looks for texts or patterns, or extracts its answer."""
    kind = find_type(type_name)
    is_searching = kind is not None and issubclass(kind.config, IncludesConfig | RegexConfig)
    return (
        is_searching or bool(config.get("extract")) or any(starmap(has_text_search, _parts(config)))
    )


def has_extraction(config: Mapping[str, Json]) -> bool:
    """Whether the scorer, or a part of it, compares what it extracts from the output."""
    return bool(config.get("extract")) or any(has_extraction(part) for _, part in _parts(config))


def _parts(config: Mapping[str, Json]) -> Iterator[tuple[str, Mapping[str, Json]]]:
    """Type and config of each part of a combination, as far as they are sound."""
    parts = config.get("scorers", ())
    for part in parts if isinstance(parts, Sequence) else ():
        if isinstance(part, Mapping):
            yield part.get("type", ""), part.get("config", {})


def find_searches(
    name: str, type_name: str, config: Mapping[str, Json], case: Case
) -> list[TextSearch]:
    """Everything the scorer and its parts look for; nothing where its type has changed since."""
    try:
        scorer = configure_scorer(type_name, config)
    except ConfigError:
        return []
    return list(_search(name, scorer, case))


def mark_searches(searches: Iterable[TextSearch]) -> list[MarkedText]:
    """Each searched text once, with all matches in it marked."""
    by_text: dict[tuple[str, str, str], list[TextSearch]] = {}
    for search in searches:
        by_text.setdefault((search.side, search.part, search.text), []).append(search)
    return [MarkedText(*key[:2], _mark(key[2], group)) for key, group in by_text.items()]


def _search(name: str, scorer: ConfiguredScorer, case: Case) -> Iterator[TextSearch]:
    config = scorer.config
    if isinstance(config, CombineConfig):
        for child in config.children:
            yield from _search(f"{name} / {child.name}", child.scorer, case)
    elif isinstance(config, TargetConfig):
        yield from _search_extraction(name, config, case)
        if isinstance(config, IncludesConfig | RegexConfig):
            yield from _search_target(name, config, case)


def _search_extraction(name: str, config: TargetConfig, case: Case) -> Iterator[TextSearch]:
    """The searches for what is compared, where the config extracts it."""
    part = _name_part(config)
    try:
        if (of_output := config.extraction) is not None:
            searched = select_searched(case.output, config)
            yield _find_extracted(TextSearch(name, "", part, ""), of_output, searched)
        if (of_expected := config.expected_extraction) is not None and case.expected is not None:
            is_whole = of_expected.is_json
            searched = case.expected if is_whole else select_expected(case.expected, config)
            blank = TextSearch(name, "", part, "", side="expected")
            yield _find_extracted(blank, of_expected, searched)
    except CaseProblem:
        return  # the score says so


def _find_extracted(blank: TextSearch, extraction: Extraction, searched: Json) -> TextSearch:
    found = extraction.find(searched, SECONDS)
    part = "" if extraction.is_json else blank.part
    search = blank._replace(wanted=extraction.label, part=part, text=to_text(searched))
    if found is None:
        return search
    if found.span is None:
        problem = f"it is {quote_excerpt(to_text(found.value))}"
        return search._replace(is_found=True, problem=problem)
    is_spelled_so = search.text[slice(*found.span)] == found.value
    problem = "" if is_spelled_so else f"read as {found.value}"
    return search._replace(places=[found.span], is_found=True, problem=problem)


def _name_part(config: TargetConfig) -> str:
    """The part of a JSON output that its target key names, "" for all of it."""
    key = config.target_output_key
    return "" if key == WHOLE else key if isinstance(key, str) else ", ".join(key)


def _search_target(
    name: str, config: IncludesConfig | RegexConfig, case: Case
) -> Iterator[TextSearch]:
    extraction = config.extraction
    part = extraction.label if extraction else _name_part(config)
    try:
        if isinstance(config, IncludesConfig) and not config.values:
            yield from _search_answers(TextSearch(name, "", part, ""), config, case)
            return
        chosen = select_target(case, config)
        if isinstance(chosen, Result):
            return
        blank = TextSearch(name, "", part, to_text(chosen.output))
        if isinstance(config, RegexConfig):
            yield _search_pattern(blank, config)
        else:
            values = config.values[:MAX_WANTED]
            yield from (_search_text(blank, value, config) for value in values)
    except CaseProblem:
        return  # the score says so


def _search_answers(blank: TextSearch, config: IncludesConfig, case: Case) -> Iterator[TextSearch]:
    """A search for each right answer."""
    found = find_answers(case, config)
    if isinstance(found, Result):
        return
    blank = blank._replace(text=to_text(found.output))
    for answer in found.usable[:MAX_WANTED]:
        yield _search_text(blank, expected_text(answer.value), config)


def _search_pattern(blank: TextSearch, config: RegexConfig) -> TextSearch:
    flags = f" {config.flags}" if config.flags else ""
    search = blank._replace(wanted=f"{config.pattern}{flags}")
    try:
        pattern = compile_pattern(config.pattern, config.flags)
        spans, is_all = pattern.places(blank.text[:MAX_CHARS], MAX_MATCHES, SECONDS)
    except (CaseProblem, ConfigError):
        return search._replace(problem="takes too long to be marked on a page")
    places = [(start, end) for start, end in spans if end > start]
    problem = _cut(blank.text) if is_all else _ONLY_FIRST
    if spans and not places:
        problem = _EMPTY
    return search._replace(places=places, is_found=bool(spans), problem=problem)


def _search_text(blank: TextSearch, wanted: str, config: IncludesConfig) -> TextSearch:
    text, sought = blank.text, wanted
    if not config.case_sensitive:
        text, sought = text.lower(), wanted.lower()
    matches = re.finditer(re.escape(sought), text[:MAX_CHARS]) if sought else iter(())
    places = [match.span() for match in islice(matches, MAX_MATCHES)]
    if len(blank.text) != len(text):
        places = _places_before_lowering(blank.text, places)
    return blank._replace(
        wanted=quote_excerpt(wanted),
        places=places,
        is_found=sought in text,
        problem=_cut(blank.text) if len(places) < MAX_MATCHES else _ONLY_FIRST,
    )


def _places_before_lowering(text: str, places: Sequence[CharRange]) -> list[CharRange]:
    """The places in the original text, in which some letter became two in lower case."""
    origins = [index for index, char in enumerate(text[:MAX_CHARS]) for _ in char.lower()]
    return [(origins[start], origins[end - 1] + 1) for start, end in places if end <= len(origins)]


def _cut(text: str) -> str:
    return f"marked in the first {MAX_CHARS:,} characters" if len(text) > MAX_CHARS else ""


def _mark(text: str, searches: Sequence[TextSearch]) -> TextLayout:
    blocks = list(build_blocks(fold_fragments(_fragments(text, searches)), "unmatched"))
    return TextLayout(blocks, len(text) - sum(map(block_length, blocks)))


def _fragments(text: str, searches: Sequence[TextSearch]) -> Iterator[Fragment]:
    """The text cut where a place begins or ends; a mark where several overlap bears all names."""
    changes = sorted(
        (offset, is_start, search.name)
        for search in searches
        for place in search.places
        for offset, is_start in zip(place, (True, False), strict=True)
    )
    open_names: dict[str, int] = {}
    done = 0
    for offset, is_start, name in changes:
        if offset > done:
            yield _fragment(text[done:offset], open_names)
            done = offset
        open_names[name] = open_names.get(name, 0) + (1 if is_start else -1)
    if done < len(text):
        yield _fragment(text[done:], {})


def _fragment(text: str, open_names: Mapping[str, int]) -> Fragment:
    names = [name for name, count in open_names.items() if count]
    return Fragment("mark", text, name="; ".join(names)) if names else Fragment("", text)
