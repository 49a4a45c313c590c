"""Accept, reject, waive or reopen ticked broken cases of a comparison, or all listed ones."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.core import signing
from django.core.exceptions import ValidationError
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse

from evalsite import access
from evalsite.blind_review import blind_pairs
from evalsite.pages.compare.forms import PairListForm
from evalsite.pages.compare.links import compare_url
from evalsite.pages.compare.refused_sign_off import RefusedSignOff
from evalsite.pages.compare.views import show_comparison
from evalsite.pages.compare.waiver_form import WaiverForm
from evalsite.pages.web.decorators import post_action
from evalsite.pages.web.fields import PositionField
from evalsite.pages.web.responses import SignedInRequest
from evalsite.pages.web.undo import add_undo_message
from scoring.engine.compare.comparison import NotComparableError, check_comparable
from scoring.engine.signoff.case_actions import (
    MAX_CASES_AT_ONCE,
    ComparedCases,
    StaleSignOffError,
    StateChange,
    decide_cases,
    record_change,
    reopen_cases,
    undo_change,
    waive_cases,
)
from scoring.models import CaseDecisionState, Role, Run
from scoring.models.pairs.pairs import Pairs
from scoring.models.pairs.rows import NO_FILTERS, Pair, PairKind
from scoring.models.reviews.broken_cases import NewestSignOff
from scoring.models.reviews.case_decision import MAX_REASON

NOTHING: Final = "No broken case is selected or listed. Nothing was changed."
SALT: Final = "evalsite.sign_off.undo"
TOO_MANY: Final = (
    f"At most {MAX_CASES_AT_ONCE:,} cases can be signed off at once. Select some, or list fewer."
)


class SignOffForm(forms.Form):
    """What to do, beside which baseline, in which list; `seen` is what was decided there."""

    baseline = forms.UUIDField()
    do = forms.ChoiceField(
        choices=[(name, name) for name in ("accepted", "rejected", "waive", "reopen", "undo")]
    )
    query = forms.CharField(required=False, strip=False)
    note = forms.CharField(required=False, max_length=MAX_REASON)
    change = forms.CharField(required=False)
    seen = forms.CharField(required=False, max_length=50)

    def clean_seen(self) -> NewestSignOff | None:
        """None where the sender does not say."""
        if not self.cleaned_data["seen"]:
            return None
        try:
            return NewestSignOff.read(self.cleaned_data["seen"])
        except ValueError:
            raise ValidationError("The page cannot be read: reload it.") from None

    def clean_change(self) -> StateChange | None:
        """What an Undo of this site signed; nothing else is read."""
        if not self.cleaned_data["change"]:
            return None
        try:
            return StateChange.read(signing.loads(self.cleaned_data["change"], salt=SALT))
        except signing.BadSignature:
            raise ValidationError("This cannot be undone.") from None


@post_action
def sign_off_cases(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Do to the cases what the pressed button says, and show the list again."""
    candidate = access.run_for(request.user, uid, Role.REVIEWER)
    form = SignOffForm(request.POST)
    if not form.is_valid():
        problem = next(iter(form.errors.values()))[0]
        messages.error(request, f"Nothing was changed: {problem}")
        return redirect("run", uid)
    (baseline,) = access.runs_for(request.user, candidate.team, [form.cleaned_data["baseline"]])
    query = QueryDict(form.cleaned_data["query"])
    try:
        check_comparable(baseline, candidate)
    except NotComparableError as refused:
        messages.error(request, refused.text)
        return redirect("run", uid)
    pairs = _chosen_pairs(request, baseline, candidate, query)
    cases = ComparedCases(baseline, candidate, pairs)
    here = f"{_list_url(baseline, candidate, query)}#cases"
    if problem := NOTHING if not pairs else TOO_MANY if len(pairs) > MAX_CASES_AT_ONCE else "":
        messages.info(request, problem)
        return redirect(here)
    if form.cleaned_data["do"] == "undo":
        _undo(request, cases, form.cleaned_data["change"])
    elif refusal := _sign_off(request, cases, form.cleaned_data):
        request.GET = query
        return show_comparison(request, baseline, candidate, refusal)
    return redirect(here)


def _sign_off(
    request: SignedInRequest, cases: ComparedCases, sent: dict[str, Any]
) -> RefusedSignOff | None:
    """Act on the cases, with a message; what was sent, where that is refused."""
    waiver = WaiverForm(
        request.POST if sent["do"] == "waive" else None,
        team=cases.candidate.team,
        user=request.user,
    )
    if waiver.is_bound and not waiver.is_valid():
        return RefusedSignOff.of(request, waiver, 422)
    if waiver.is_bound:
        act: Callable[..., object] = partial(waive_cases, cases, waiver.terms())
    elif sent["do"] == "reopen":
        act = partial(reopen_cases, cases)
    else:
        act = partial(decide_cases, cases, CaseDecisionState(sent["do"]), reason=sent["note"])
    try:
        change = record_change(cases, partial(act, by=request.user), sent["seen"])
    except StaleSignOffError as stale:
        messages.error(request, str(stale))
        return RefusedSignOff.of(request, waiver, 409)
    _add_message(request, cases, sent, change, waiver)
    return None


def _undo(request: SignedInRequest, cases: ComparedCases, change: StateChange | None) -> None:
    """Bring back what was decided before; a message where a colleague decided since."""
    if change is None:
        return
    try:
        undo_change(cases, change, by=request.user)
    except StaleSignOffError as stale:
        messages.error(request, str(stale))


def _list_url(baseline: Run, candidate: Run, query: QueryDict) -> str:
    """The comparison with the list that the action was chosen in."""
    kept = query.copy()
    for name in ("baseline", "candidate"):
        kept.pop(name, None)
    url = compare_url(candidate.team, baseline, [candidate])
    return f"{url}&{kept.urlencode()}" if kept else url


def _chosen_pairs(
    request: SignedInRequest, baseline: Run, candidate: Run, query: QueryDict
) -> list[Pair]:
    """The ticked broken pairs; without a tick the listed ones, up to one more than allowed."""
    pairs = Pairs(baseline, candidate)
    without = blind_pairs(request.user, baseline, candidate).outputs
    ticked = [*request.POST.getlist("place"), *request.POST.get("places", "").split()]
    if places := _places(ticked):
        found = pairs.at_positions(PairKind.BROKE, sorted({place.position for place in places}))
        halves = ((pair, pair.candidate) for pair in found if pair.place in places)
        return [pair for pair, half in halves if half and half.output not in without]
    query = query.copy()
    for name in ("after", "before", "n"):
        query.pop(name, None)
    names = candidate.scorers.values_list("name", flat=True)
    form = PairListForm(query, scorers=list(names), runs=(baseline, candidate))
    form.full_clean()
    is_listed = not form.errors and form.has_states and not ticked
    filters = form.filters.leave_out(without) if is_listed else NO_FILTERS
    page = pairs.page(PairKind.BROKE, filters, size=MAX_CASES_AT_ONCE + 1) if is_listed else None
    return list(page.rows) if page else []


def _places(texts: list[str]) -> set[Any]:
    """The places that the ticks name; those that cannot be read are left out."""
    field = PositionField()
    places = set()
    for text in texts[: MAX_CASES_AT_ONCE + 1]:
        try:
            places.add(field.clean(text))
        except ValidationError:
            continue
    return places - {None}


def _add_message(
    request: SignedInRequest,
    cases: ComparedCases,
    sent: dict[str, Any],
    change: StateChange,
    waiver: WaiverForm,
) -> None:
    """What was done, with an Undo that brings back what was decided before."""
    count = len(cases.pairs)
    noun = "1 case" if count == 1 else f"{count:,} cases"
    done = {"accepted": "accepted", "rejected": "rejected", "reopen": "reopened"}.get(sent["do"])
    if done is None:
        until = waiver.cleaned_data["until"]
        done = f"waived until {until:%-d %b %Y}"
    fields = {
        "do": "undo",
        "baseline": str(cases.baseline.uuid),
        "query": sent["query"],
        "change": signing.dumps(change.as_json(), salt=SALT, compress=True),
        "places": " ".join(pair.place.written for pair in cases.pairs),
    }
    path = reverse("sign_off_cases", args=[cases.candidate.uuid])
    add_undo_message(request, f"{noun} {done}.", path, fields)
