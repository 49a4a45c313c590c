"""Prompts before they are sent: the placeholders of a dataset's cases, and filled prompts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Final, NamedTuple

from scoring.core.contract import CaseProblem, Json
from scoring.core.json_path import Step, path_text
from scoring.core.json_text import parse
from scoring.core.llm.prompt_template import PromptTemplate
from scoring.engine.outputs.generation import case_to_score
from scoring.models import Case, DatasetVersion

CASES_EXAMINED: Final = 200  # cases whose placeholders are listed
MAX_PATHS: Final = 40
MAX_DEPTH: Final = 4
MAX_PREVIEWED: Final = 3  # prompts of a preview
MAX_COUNTED: Final = 10_000  # cases of a version in which missing values are counted
MAX_NAMED: Final = 5  # cases that lack a value
_RANKS: Final = ("input", "expected", "references", "metadata", "tags", "key")


class Placeholder(NamedTuple):
    """A path a template may name, and how many of the cases looked at have it."""

    path: str
    case_count: int

    @property
    def written(self) -> str:
        return f"{{{{ {self.path} }}}}"


class FilledPrompt(NamedTuple):
    """The prompt of one case, or why it has none."""

    position: int
    key: str
    text: str
    problem: str


class MissingValues(NamedTuple):
    """Cases that lack a value of the template; the count is None where they are not counted."""

    case_count: int | None
    keys: Sequence[str]


def find_placeholders(version: DatasetVersion) -> list[Placeholder]:
    """The placeholders of the version's first cases in the order of fields, inner ones below."""
    counts: Counter[str] = Counter()
    for case in version.cases.order_by("position")[:CASES_EXAMINED]:
        counts.update(list(dict.fromkeys(_paths(case))))
    ranked = sorted(counts, key=lambda path: _RANKS.index(path.split(".")[0].split("[")[0]))
    return [Placeholder(path, counts[path]) for path in ranked[:MAX_PATHS]]


def _paths(case: Case) -> Iterator[str]:
    shown = case_to_score(case)
    lists = list(shown.references), dict(shown.metadata), list(shown.tags)
    values: Sequence[Json] = (shown.input, shown.expected, *lists, shown.id)
    for name, value in zip(_RANKS, values, strict=True):
        if value not in (None, [], {}):
            yield from _inner_paths((name,), value)


def _inner_paths(path: tuple[Step, ...], value: Json) -> Iterator[str]:
    """The path itself and those inside its value; of a list only those of its first item."""
    yield path_text(path)
    if len(path) >= MAX_DEPTH:
        return
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        with suppress(CaseProblem):
            value = parse(value)
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _inner_paths((*path, key), inner)
    elif isinstance(value, list) and value:
        yield from _inner_paths((*path, 0), value[0])


def fill_prompts(
    version: DatasetVersion, template: PromptTemplate, count: int = MAX_PREVIEWED
) -> list[FilledPrompt]:
    """The prompts of the version's first cases. The template is to have no problem."""
    return [_fill(case, template) for case in version.cases.order_by("position")[:count]]


def _fill(case: Case, template: PromptTemplate) -> FilledPrompt:
    try:
        return FilledPrompt(case.position, case.key, template.filled(case_to_score(case)), "")
    except CaseProblem as problem:
        return FilledPrompt(case.position, case.key, "", problem.text)


def find_missing_values(version: DatasetVersion, template: PromptTemplate) -> MissingValues:
    """The cases that lack a value, over the whole version unless it is too large."""
    if version.case_count > MAX_COUNTED:
        return MissingValues(None, ())
    cases = version.cases.order_by("position").iterator()
    keys = [case.key for case in cases if _fill(case, template).problem]
    return MissingValues(len(keys), keys[:MAX_NAMED])
