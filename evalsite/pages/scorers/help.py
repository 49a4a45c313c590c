"""Help: what each scorer type means, with its settings and worked examples."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from django.http import Http404, HttpResponse

from evalsite.pages.web.decorators import get_page
from evalsite.pages.web.responses import SignedInRequest, render_page
from scoring.core.config import config_fields
from scoring.core.configured import configure_scorer
from scoring.core.contract import Case, ConfigError, Json, Result, ServiceError
from scoring.core.explain.explanation import Explanation, explain
from scoring.core.explain.shared_examples import (
    SHARED_EXAMPLES,
    SharedExample,
    comparable_types,
)
from scoring.core.registry import SERVICE_FAMILIES, Example, ScorerType, all_types, scorer_type
from scoring.engine.tryout import tryout
from scoring.engine.tryout.queue import BusyError

_results: Final[dict[tuple[str, str], Result]] = {}  # of the examples, which never change


@dataclass(frozen=True)
class WorkedExample:
    """An example with its explanation; None if that needs a model."""

    example: Example
    explanation: Explanation | None

    @property
    def config(self) -> dict[str, Json]:
        return dict(self.example.config)


class ComparedScore(NamedTuple):
    """What a type says of a shared example: as it is, and where the answer is extracted.

    None where the helper process does not answer.
    """

    plain: Result | None
    extracted: Result | None


class ComparedType(NamedTuple):
    """A type beside others, by the shared examples."""

    type: ScorerType
    scores: Sequence[ComparedScore]


@get_page
def scorer_types(request: SignedInRequest) -> HttpResponse:
    """All scorer types with their summaries."""
    context = {"types": all_types().values(), **_comparison()}
    return render_page(request, "scorers/help/scorers.html", context)


@get_page
def scorer_help(request: SignedInRequest, type_name: str) -> HttpResponse:
    """One scorer type: meaning, settings, worked examples."""
    try:
        kind = scorer_type(type_name)
    except ConfigError:
        raise Http404 from None
    context = {
        "type": kind,
        "types": all_types().values(),
        "paragraphs": kind.semantics,
        "fields": config_fields(kind.config),
        "examples": [_explain_example(kind, i) for i in range(len(kind.examples))],
        **_comparison(),
    }
    return render_page(request, "scorers/help/scorer.html", context)


def _comparison() -> dict[str, Any]:
    """The types that the shared examples tell apart, with their scores."""
    compared = [
        ComparedType(kind, [_compare(kind, example) for example in SHARED_EXAMPLES])
        for kind in comparable_types()
    ]
    return {"shared_examples": SHARED_EXAMPLES, "compared": compared}


def _compare(kind: ScorerType, example: SharedExample) -> ComparedScore:
    return ComparedScore(
        _score(kind.name, {}, example.case),
        _score(kind.name, {"extract": example.extract}, example.case),
    )


def _explain_example(kind: ScorerType, index: int) -> WorkedExample:
    example = kind.examples[index]
    if kind.family in SERVICE_FAMILIES:
        return WorkedExample(example, None)
    name, config, case = kind.name, example.config, example.case
    result = _score(name, config, case)
    if result is None:
        return WorkedExample(example, None)
    threshold = configure_scorer(name, config).threshold
    return WorkedExample(example, explain(name, config, threshold, case, result))


def _score(name: str, config: Mapping[str, Json], case: Case) -> Result | None:
    """The result of an example, asked for once; None where the helper process does not answer."""
    key = name, json.dumps([dict(config), case], sort_keys=True)
    if key not in _results:
        try:
            (_results[key],) = tryout.score(name, config, None, [case])
        except (ServiceError, BusyError):
            return None
    return _results[key]
