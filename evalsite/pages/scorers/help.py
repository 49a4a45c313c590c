"""Help: what each scorer type means, with its settings and worked examples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django.http import Http404, HttpResponse

from evalsite.pages.web.decorators import get_page
from evalsite.pages.web.responses import SignedInRequest, render_page
from scoring.core.config import config_fields
from scoring.core.configured import configure_scorer
from scoring.core.contract import ConfigError, Json, Result, ServiceError
from scoring.core.explain.explanation import Explanation, explain
from scoring.core.registry import SERVICE_FAMILIES, Example, ScorerType, all_types, scorer_type
from scoring.engine.tryout import tryout
from scoring.engine.tryout.queue import BusyError

_results: Final[dict[tuple[str, int], Result]] = {}  # of the examples, which never change


@dataclass(frozen=True)
class WorkedExample:
    """An example with its explanation; None if that needs a model."""

    example: Example
    explanation: Explanation | None

    @property
    def config(self) -> dict[str, Json]:
        return dict(self.example.config)


@get_page
def scorer_types(request: SignedInRequest) -> HttpResponse:
    """All scorer types with their summaries."""
    return render_page(request, "scorers/help/scorers.html", {"types": all_types().values()})


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
    }
    return render_page(request, "scorers/help/scorer.html", context)


def _explain_example(kind: ScorerType, index: int) -> WorkedExample:
    example = kind.examples[index]
    if kind.family in SERVICE_FAMILIES:
        return WorkedExample(example, None)
    name, config, case = kind.name, example.config, example.case
    try:
        threshold = configure_scorer(name, config).threshold
        if (name, index) not in _results:
            (_results[name, index],) = tryout.score(name, config, None, [case])
    except (ServiceError, BusyError):
        return WorkedExample(example, None)
    explanation = explain(name, config, threshold, case, _results[name, index])
    return WorkedExample(example, explanation)
