"""Two outputs side by side without names: which one is better, and the results."""

from __future__ import annotations

import uuid
from typing import Any, Final, NamedTuple

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from evalsite import access
from evalsite.access import TaskAccess
from evalsite.pages.cases.texts.case_texts import CaseTexts
from evalsite.pages.review.forms import PairwiseQueueForm, PreferenceForm
from evalsite.pages.web.decorators import form_page
from evalsite.pages.web.responses import SignedInRequest, render_page, text_response
from evalsite.pages.web.undo import add_undo_message
from scoring.core.textdiff.text_layout import TextLayout, display_text, layout_text
from scoring.engine.review.pairwise import CHOICES, OutputPair, task_pair
from scoring.engine.review.queue_progress import own_progress
from scoring.engine.runs.neighbours import run_baseline
from scoring.models import Output, Preference, Role, Run
from scoring.models.reviews.preference import StalePreferenceError

UNDONE: Final = "undone_preference"  # in the session: the note of the choice just undone
LABELS: Final = {"left": "left is better", "same": "same", "right": "right is better"}


class Choice(NamedTuple):
    """A choice to make, by mouse or by its key."""

    code: str
    label: str
    key: int
    is_own: bool


class Side(NamedTuple):
    """One of the two outputs; `run` is None while its name is hidden."""

    name: str
    text: TextLayout
    run: Run | None


@form_page
def new_pairwise_queue(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """A form for a queue that puts a run's outputs beside those of the baseline in the address."""
    opened = access.run_access_for(request.user, uid, Role.REVIEWER)
    run, baseline = opened.run, _baseline(request, opened.run)
    if baseline is None:
        messages.info(request, "Choose the run to compare with.")
        return redirect(reverse("compare", args=[run.team.slug]))
    people = access.members_with_role(run.team, Role.REVIEWER)
    form = PairwiseQueueForm(
        request.POST or None,
        run=run,
        baseline=baseline,
        person=request.user,
        people=people if opened.permissions["may_edit"] else [request.user],
    )
    if form.is_valid() and (queue := form.save()):
        messages.success(request, f"Queue created with {queue.case_count:,} pairs.")
        return redirect("review_queue", queue.uuid)
    context = {"team": run.team, "run": run, "baseline": baseline, "form": form}
    status = 422 if form.errors else 200
    return render_page(request, "review/new_pairwise.html", context, status=status)


def compare_pair(request: SignedInRequest, opened: TaskAccess) -> HttpResponse:
    """The two outputs of a task; a choice leads to the next pair."""
    pair = task_pair(opened.queue, opened.task)
    if pair is None:
        return _render_incomplete(request, opened)
    if name := request.GET.get("whole"):
        return text_response(_texts(opened, pair).get(name))
    if request.method != "POST":
        return _render(request, opened, pair)
    form = PreferenceForm(request.POST)
    if not form.is_valid():
        messages.error(request, form.fault)
        return _render(request, opened, pair, {"sent": request.POST}, status=422)
    try:
        _save(request, opened, pair, form)
    except StalePreferenceError as stale:
        sent = {"stale": stale, "sent": form.cleaned_data}
        sent["sent_label"] = LABELS[form.cleaned_data["choice"]]
        return _render(request, opened, pair, sent, status=409)
    return redirect("next_review", opened.queue.uuid)


def undo_preference(request: SignedInRequest, opened: TaskAccess) -> HttpResponse:
    """Clear the choice just made and show the pair again, with the note that was written."""
    pair = task_pair(opened.queue, opened.task)
    if pair is None:
        raise Http404
    outputs = (pair.candidate, pair.baseline)
    if given := Preference.objects.clear(opened.run, outputs, by=request.user):
        request.session[UNDONE] = {"note": given.note, "task": opened.key}
        messages.info(request, f"Your choice on {opened.output.case.key} is cleared.")
    return redirect("review_task", opened.queue.uuid, opened.task.position)


def _baseline(request: SignedInRequest, run: Run) -> Run | None:
    """The run of the same dataset that the address names, else the run's own baseline."""
    if "baseline" not in request.GET:
        return run_baseline(run)
    try:
        uid = uuid.UUID(request.GET["baseline"])
    except ValueError:
        raise Http404 from None
    baseline = access.run_for(request.user, uid)
    is_same = baseline.output_set.version.dataset_id == run.output_set.version.dataset_id
    if not is_same or baseline.output_set_id == run.output_set_id:
        raise Http404
    return baseline


def _save(
    request: SignedInRequest, opened: TaskAccess, pair: OutputPair, form: PreferenceForm
) -> None:
    """Keep the choice, and offer to undo it: what it replaced holds again then.

    Raises StalePreferenceError.
    """
    sent = form.cleaned_data
    replaced = Preference.objects.filter(
        candidate=pair.candidate, baseline=pair.baseline, reviewer=request.user
    ).first()
    kept = Preference.objects.prefer(
        opened.run,
        (pair.candidate, pair.baseline),
        pair.verdict_of(sent["choice"]),
        by=request.user,
        note=sent["note"],
        is_swapped=pair.is_swapped,
        seen=sent["seen"],
    )
    task, fields = [opened.queue.uuid, opened.task.position], {}
    path = reverse("review_task" if replaced else "undo_review_task", args=task)
    if replaced:
        fields = {"choice": pair.choice_of(replaced.verdict), "note": replaced.note}
        fields["seen"] = kept.code
    text = f"{opened.output.case.key}: {LABELS[sent['choice']]}."
    add_undo_message(request, text, path, fields)


def _render(
    request: SignedInRequest,
    opened: TaskAccess,
    pair: OutputPair,
    more: dict[str, Any] | None = None,
    *,
    status: int = 200,
) -> HttpResponse:
    given = Preference.objects.filter(
        candidate=pair.candidate, baseline=pair.baseline, reviewer=request.user
    ).first()
    undone = request.session.get(UNDONE, {})
    chosen = pair.choice_of(given.verdict) if given else ""
    context: dict[str, Any] = {
        "team": opened.run.team,
        "run": opened.run,
        "queue": opened.queue,
        "task": opened.task,
        "case": opened.output.case,
        "own": CaseTexts(opened.output.case),
        "sides": _sides(opened, pair, is_named=given is not None),
        "preference": given,
        "given_label": LABELS.get(chosen),
        "sent": undone if undone.get("task") == opened.key else None,
        "choices": [
            Choice(code, LABELS[code], key, code == chosen)
            for key, code in enumerate(CHOICES, start=1)
        ],
        "progress": own_progress(opened.queue, request.user),
        **(more or {}),
    }
    return render_page(request, "review/pair.html", context, status=status)


def _render_incomplete(request: SignedInRequest, opened: TaskAccess) -> HttpResponse:
    """Say that the pair lost its other output, and let the person go on."""
    context = {
        "team": opened.run.team,
        "queue": opened.queue,
        "task": opened.task,
        "case": opened.output.case,
    }
    return render_page(request, "review/incomplete_pair.html", context, status=410)


def _sides(opened: TaskAccess, pair: OutputPair, *, is_named: bool) -> list[Side]:
    """Left and right; the runs' names only after the own choice."""
    runs = {pair.candidate.pk: opened.run, pair.baseline.pk: opened.queue.baseline}
    return [
        Side(name, layout_text(_text(output)), runs[output.pk] if is_named else None)
        for name, output in (("left", pair.left), ("right", pair.right))
    ]


def _texts(opened: TaskAccess, pair: OutputPair) -> dict[str, str]:
    """The whole texts by name."""
    sides = {"left": _text(pair.left), "right": _text(pair.right)}
    return CaseTexts(opened.output.case).whole | sides


def _text(output: Output) -> str:
    return display_text(output.value) if output.text is not None else ""
