"""Prompts before they are sent: the places a dataset's cases have, and prompts filled with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from scoring.core.contract import CaseProblem, Json
from scoring.core.json_path import Step, path_text
from scoring.core.json_text import parse
from scoring.core.prompt_template import PromptTemplate
from scoring.engine.generate import case_to_score
from scoring.models import Case, DatasetVersion

LOOKED_AT: Final = 200  # cases whose places are listed
MOST_PLACES: Final = 40
DEEPEST: Final = 4
SHOWN: Final = 3  # prompts of a preview
MOST_COUNTED: Final = 10_000  # cases; in more, nobody counts those that lack a place
NAMED: Final = 5  # of the cases that lack a place


class Place(NamedTuple):
    """A path a template may name, and how many of the cases looked at have it."""

    path: str
    case_count: int

    @property
    def written(self) -> str:
        return f"{{{{ {self.path} }}}}"


class Filled(NamedTuple):
    """The prompt of one case, or why it has none."""

    position: int
    key: str
    text: str
    problem: str


class Lacking(NamedTuple):
    """Cases that lack a place of the template; the count is None where nobody counted them."""

    case_count: int | None
    keys: Sequence[str]


def places_of(version: DatasetVersion) -> list[Place]:
    """The places of the version's first cases, the fields in their order, inner ones below."""
    found: Counter[str] = Counter()
    for case in version.cases.order_by("position")[:LOOKED_AT]:
        found.update(list(dict.fromkeys(_paths(case))))
    ranked = sorted(found, key=lambda path: _RANKS.index(path.split(".")[0].split("[")[0]))
    return [Place(path, found[path]) for path in ranked[:MOST_PLACES]]


_RANKS: Final = ("input", "expected", "references", "metadata", "tags", "key")


def _paths(case: Case) -> Iterator[str]:
    shown = case_to_score(case)
    given: dict[str, Json] = {"input": shown.input, "expected": shown.expected}
    given |= {"references": list(shown.references), "metadata": dict(shown.metadata)}
    given |= {"tags": list(shown.tags), "key": shown.id}
    for name, value in given.items():
        if value not in (None, [], {}):
            yield from _inside((name,), value)


def _inside(path: tuple[Step, ...], value: Json) -> Iterator[str]:
    """The path itself and those of what lies inside, of a list only its first item."""
    yield path_text(path)
    if len(path) >= DEEPEST:
        return
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        value = _parsed(value)
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _inside((*path, key), inner)
    elif isinstance(value, list) and value:
        yield from _inside((*path, 0), value[0])


def _parsed(text: str) -> Json:
    try:
        return parse(text)
    except CaseProblem:
        return None


def filled(version: DatasetVersion, template: PromptTemplate, count: int = SHOWN) -> list[Filled]:
    """The prompts of the version's first cases. The template is to have no problem."""
    return [_filled(case, template) for case in version.cases.order_by("position")[:count]]


def _filled(case: Case, template: PromptTemplate) -> Filled:
    try:
        return Filled(case.position, case.key, template.filled(case_to_score(case)), "")
    except CaseProblem as problem:
        return Filled(case.position, case.key, "", problem.text)


def lacking(version: DatasetVersion, template: PromptTemplate) -> Lacking:
    """Which cases lack a place, over the whole version where it is not too large."""
    if version.case_count > MOST_COUNTED:
        return Lacking(None, ())
    cases = version.cases.order_by("position").iterator()
    keys = [found.key for case in cases if (found := _filled(case, template)).problem]
    return Lacking(len(keys), keys[:NAMED])
