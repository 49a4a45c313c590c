"""*Try it*: a scorer, saved or not, on one case, with the arithmetic behind its score.

What computes is scored at once; what asks a model or needs vectors is left to the worker, and the
page looks for its answer.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from django.http import Http404, HttpResponse

from evalsite.access import errand_for
from evalsite.pages.forms.scorers import ScorerForm
from evalsite.pages.forms.tryout import (
    OwnCases,
    Prefill,
    TryForm,
    example_of,
    prefill_of,
    reads_texts,
)
from evalsite.pages.fragments import SignedInRequest, show
from evalsite.pages.methods import reading
from evalsite.pages.underway import Underway, underway_of
from scoring.core.bound import bind
from scoring.core.config import config_fields
from scoring.core.contract import Case, ConfigError, Json, Result, ServiceError
from scoring.core.explain import Explanation, explain
from scoring.core.registry import ASKING, ScorerType
from scoring.engine import errands, tryout
from scoring.engine.probe import case_of
from scoring.engine.progress import NO_WORKER, worker_is_alive
from scoring.models import Errand, ErrandKind, Role, User

#: What a request for a try says of itself, in the parameter `try`.
TYPED, NOW, CASE = "typed", "now", "case"
BELOW: Final = " is below the threshold "  # the reason of a plain fail
AT_ONCE: Final = 3  # a person's tries that wait for the worker
ASK: Final = "This scorer asks a model or needs vectors. It is scored when you press Try it."
TOO_MANY: Final = f"{AT_ONCE} of your tries are still under way. Wait until one has ended."


@dataclass(frozen=True)
class Scored:
    """A result, and the scorer and the case it came from."""

    type: str
    config: Mapping[str, Json]
    threshold: float
    case: Case
    result: Result

    @cached_property
    def explanation(self) -> Explanation:
        return explain(self.type, self.config, self.threshold, self.case, self.result)

    @property
    def reason(self) -> str:
        """The result's reason, where it says more than the explanation."""
        reason, why = self.result.reason, self.explanation
        is_set_out = bool(why.similarities or (why.judgement and why.judgement.value))
        is_told = is_set_out or reason in why.found or BELOW in reason
        return "" if is_told else reason


@dataclass(frozen=True)
class Tried:
    """What came of a try: a score, or what stands in its way.

    `problems` are pairs of a field's label and what is wrong with it; `notice` is one sentence.
    """

    scored: Scored | None = None
    problems: tuple[tuple[str, str], ...] = ()
    notice: str = ""
    errand: Errand | None = None

    @cached_property
    def underway(self) -> Underway | None:
        """None where nothing is waited for."""
        return underway_of(self.errand)

    @property
    def calls(self) -> list[dict[str, Any]]:
        """What models were asked and answered, as `probe.tried_scorer` tells it."""
        return list(self.errand.answer.get("calls", ())) if self.errand else []


class Panel:
    """The panel beside a scorer's form: the fields of a case, and what came of the last try."""

    def __init__(self, request: SignedInRequest, form: ScorerForm) -> None:
        self._user, self._posted, self._form = request.user, request.POST, form
        self._own = OwnCases(form.team, form.scorer)

    @property
    def is_wanted(self) -> bool:
        """Whether the request asks for a try, and not to save."""
        return self._posted.get("try") in {TYPED, NOW, CASE}

    @property
    def choices(self) -> Any:
        return self._own.choices()

    @property
    def chosen(self) -> str:
        """The choice the fields began with."""
        return str(self._posted.get("try-from", "" if self._posted else self._own.first))

    @cached_property
    def fields(self) -> TryForm:
        """As typed, or a case of the team's, or else the type's example."""
        if self._posted and self._picked is None:
            return TryForm(self._posted)
        return TryForm(initial=self._prefill.values)

    @property
    def is_cut(self) -> bool:
        return self._picked is not None and self._prefill.is_cut

    @property
    def wants_references(self) -> bool:
        """Whether the fields that most types do not look at are to be open."""
        return "references" in {spec.name for spec in config_fields(self._form.kind.config)}

    @cached_property
    def tried(self) -> Tried | None:
        """None where nothing was asked for."""
        return self._tried() if self.is_wanted else None

    @property
    def is_ready(self) -> bool:
        """Whether there may be a score before anything is typed."""
        form = self._form
        is_open = form.scorer is None and any(
            spec.required for spec in config_fields(form.kind.config)
        )
        return not is_open and form.kind.family not in ASKING

    @property
    def status(self) -> int:
        return 422 if self.tried and self.tried.problems else 200

    @cached_property
    def _picked(self) -> Case | None:
        """The team's case the fields are to hold; None where they hold what was typed."""
        is_picked = not self._posted or self._posted.get("try") == CASE
        return self._own.find(self.chosen) if is_picked else None

    @cached_property
    def _prefill(self) -> Prefill:
        kind = self._form.kind
        return prefill_of(self._picked or example_of(kind), kind)

    def _tried(self) -> Tried:
        self._form.forgo_name()
        if problems := self._problems():
            return Tried(problems=problems)
        form = self._form
        try:
            return _tried(form, self._typed, self._user, is_asked=self._posted["try"] == NOW)
        except ConfigError as problem:
            form.show_errors(problem)
            return Tried(problems=self._problems())
        except ServiceError as fault:
            return Tried(notice=f"No score: {fault.text}.")

    @cached_property
    def _typed(self) -> TryForm:
        """The fields as sent, where a case was picked as if it had been sent."""
        if self._picked is None:
            return self.fields
        blank = TryForm(initial=self._prefill.values)
        return TryForm({field.html_name: field.value() or "" for field in blank})

    def _problems(self) -> tuple[tuple[str, str], ...]:
        """What is wrong in the fields of the scorer and of the case."""
        self._form.is_valid()
        case = self._typed
        return (
            *((problem.label, problem.text) for problem in self._form.problems()),
            *(
                (str(case[n].label), str(text))
                for n, texts in case.errors.items()
                for text in texts
            ),
        )


def _tried(form: ScorerForm, typed: TryForm, by: User, *, is_asked: bool) -> Tried:
    """Raises ConfigError, ServiceError."""
    kind, config, threshold = form.kind, form.config(), form.effective_threshold()
    needs_worker = _needs_worker(kind, config)
    case = typed.case(is_text=reads_texts(kind.name, config))
    if not needs_worker:
        (result,) = tryout.score(kind.name, config, threshold, [case])
        return Tried(Scored(kind.name, config, threshold, case, result))
    request = {"type": kind.name, "config": config, "threshold": threshold, "case": _sent(case)}
    if not is_asked:  # what was typed right before the button was pressed may be sent after it
        same = errands.latest(ErrandKind.TRY_SCORER, form.team, by, request)
        return answered(same) if same else Tried(notice=ASK)
    if not worker_is_alive():
        return Tried(notice=f"Not scored, for there is {NO_WORKER}.")
    under_way = Errand.objects.unfinished().filter(asked_by=by, kind=ErrandKind.TRY_SCORER)
    if under_way.count() >= AT_ONCE:
        return Tried(notice=TOO_MANY)
    return Tried(errand=errands.ask(ErrandKind.TRY_SCORER, form.team, by, request))


def _needs_worker(kind: ScorerType, config: Mapping[str, Json]) -> bool:
    if kind.family != "combinator":
        return kind.family in ASKING
    return bind(kind.name, config).needs_services


def _sent(case: Case) -> dict[str, Json]:
    names = ("output", "expected", "input", "references", "metadata")
    sent: dict[str, Json] = {name: getattr(case, name) for name in names}
    return sent | {"references": list(case.references), "metadata": dict(case.metadata)}


@reading
def tried(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """What the worker found of a try, or that it is still at it."""
    errand = errand_for(request.user, uid, Role.EDITOR)
    if errand.kind != ErrandKind.TRY_SCORER:
        raise Http404
    context = {"team": errand.team, "tried": answered(errand)}
    return show(request, "scorer/tried.html", context, parts=["tried"])


def answered(errand: Errand) -> Tried:
    """What a try shows of its errand, at whatever state that is."""
    if errand.is_open:
        return Tried(errand=errand)
    if errand.problem:
        found = errand.answer.get("errors", {}).items()
        problems = tuple((name, text) for name, texts in found for text in texts)
        notice = "" if problems else f"No score: {errand.problem}."
        return Tried(problems=problems, notice=notice, errand=errand)
    asked, given = errand.request, errand.answer["result"]
    result = Result(*(given[name] for name in Result._fields))
    scored = Scored(
        asked["type"], asked["config"], asked["threshold"], case_of(asked["case"]), result
    )
    return Tried(scored, errand=errand)
