"""Help: what each scorer type means, with its settings and worked examples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django.http import Http404, HttpResponse

from evalsite.pages.fragments import SignedInRequest, show
from evalsite.pages.methods import reading
from scoring.core.bound import bind
from scoring.core.config import config_fields
from scoring.core.contract import ConfigError, Json, Result, ServiceError
from scoring.core.examples import Example
from scoring.core.explain import Explanation, explain
from scoring.core.registry import ASKING, ScorerType, all_types, scorer_type
from scoring.core.semantics import semantics_of
from scoring.engine import tryout

_results: Final[dict[tuple[str, int], Result]] = {}  # of the examples, which never change


@dataclass(frozen=True)
class Worked:
    """An example with its arithmetic, None where a model would have to be asked for it."""

    example: Example
    explanation: Explanation | None

    @property
    def config(self) -> dict[str, Json]:
        return dict(self.example.config)


@reading
def scorer_types(request: SignedInRequest) -> HttpResponse:
    """Every scorer type in a sentence."""
    return show(request, "help/scorers.html", {"types": all_types().values()})


@reading
def scorer_help(request: SignedInRequest, type_name: str) -> HttpResponse:
    """One scorer type: what it means, what it can be told, worked examples."""
    try:
        kind = scorer_type(type_name)
    except ConfigError:
        raise Http404 from None
    context = {
        "type": kind,
        "types": all_types().values(),
        "paragraphs": semantics_of(kind.name),
        "fields": config_fields(kind.config),
        "examples": [_worked(kind, place) for place in range(len(kind.examples))],
    }
    return show(request, "help/scorer.html", context)


def _worked(kind: ScorerType, place: int) -> Worked:
    example = kind.examples[place]
    if kind.family in ASKING:
        return Worked(example, None)
    try:
        ready = bind(kind.name, example.config)
        known = (kind.name, place)
        if known not in _results:
            (_results[known],) = tryout.score(kind.name, example.config, None, [example.case])
        result = _results[known]
    except ServiceError:
        return Worked(example, None)
    return Worked(
        example, explain(kind.name, example.config, ready.threshold, example.case, result)
    )
