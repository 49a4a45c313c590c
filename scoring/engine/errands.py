"""Errands: what pages ask of the worker, and how each kind is done.

The web process never calls a model and never loads torch. It leaves an errand, the worker does it
in a thread, and the page looks for the answer.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from django.db.models import F

from scoring.engine import compare, drafts, drift, noise, preview, probe
from scoring.engine.loading import likenesses
from scoring.models import Errand, ErrandKind, ErrandState, Team, User
from scoring.models.errand import OPEN

log = logging.getLogger(__name__)

Answer = Mapping[str, Any]

#: How each kind is done: from the errand to its answer. Raises ErrandProblem.
KINDS: Final[dict[str, Callable[[Errand], Answer]]] = {
    ErrandKind.TEST_CONNECTION: probe.tested_connection,
    ErrandKind.TRY_SCORER: probe.tried_scorer,
    ErrandKind.PREVIEW_SCORER: preview.previewed,
    ErrandKind.CHECK_NOISE: noise.checked_noise,
    ErrandKind.TRY_PROMPT: probe.tried_prompt,
    ErrandKind.MEASURE_DRIFT: drift.done_errand,
    ErrandKind.COMPARE: compare.done_errand,
    ErrandKind.PUBLISH_DRAFT: drafts.done_errand,
    ErrandKind.FIND_LIKENESSES: likenesses.done_errand,
}

_UNKEEPABLE: Final = re.compile("[\x00\ud800-\udfff]")  # no database keeps them in JSON


def ask(kind: ErrandKind, team: Team, by: User | None, request: Mapping[str, Any]) -> Errand:
    """A new errand, or the open one that asks the very same; now somebody waits for it."""
    wanted = {"team": team, "kind": kind, "request": keepable(request)}
    for errand in Errand.objects.unfinished().filter(team=team, kind=kind).order_by("pk"):
        if errand.request == wanted["request"]:
            if errand.asked_by_id is None and by:
                Errand.objects.filter(pk=errand.pk).update(asked_by=by)
            return errand
    return Errand.objects.create(**wanted, asked_by=by)


def latest(kind: ErrandKind, team: Team, by: User, request: Mapping[str, Any]) -> Errand | None:
    """What this person has asked last, if that was the very same."""
    errand = Errand.objects.filter(team=team, kind=kind, asked_by=by).order_by("pk").last()
    return errand if errand and errand.request == keepable(request) else None


def leave(kind: ErrandKind, team: Team, request: Mapping[str, str]) -> None:
    """Leave to the worker what follows from a change in the rows.

    One of the same request that waits will see the change, too; one under way may not.
    """
    same = {"team": team, "kind": kind, "request": request}
    if not Errand.objects.filter(**same, state=ErrandState.WAITING).exists():
        Errand.objects.create(**same)


def do(errand: Errand) -> None:
    """Do the errand and keep its answer, or in `problem` why there is none."""
    begun = {"state": ErrandState.WORKING, "tries": F("tries") + 1, "answer": {}}
    Errand.objects.filter(pk=errand.pk).update(**begun)
    try:
        answer = keepable(KINDS[errand.kind](errand))
        end, problem = ErrandState.DONE, ""
    except probe.ErrandProblem as fault:
        answer, end, problem = keepable(fault.answer), ErrandState.FAILED, fault.text
    except Exception as fault:
        log.exception("errand %s (%s) failed", errand.uuid, errand.kind)
        answer, end, problem = {}, ErrandState.FAILED, f"it failed with {type(fault).__name__}"
    kept = Errand.objects.filter(pk=errand.pk)
    kept.update(state=end, answer=answer, problem=problem, held_by="", held_until=None)


def put_back(errand: Errand) -> None:
    """Let another worker do it, or this one when it is there again."""
    kept = Errand.objects.filter(pk=errand.pk, state__in=OPEN)
    kept.update(state=ErrandState.WAITING, held_by="", held_until=None)


def give_up(errand: Errand) -> None:
    """An errand whose worker ended is not begun again: it may have cost money already."""
    problem = "the worker ended meanwhile; ask again"
    kept = Errand.objects.filter(pk=errand.pk)
    kept.update(state=ErrandState.FAILED, problem=problem, held_by="", held_until=None)


def keepable(value: Any) -> Any:
    """The value as JSON that every database keeps; what is no JSON becomes its text."""
    text = json.dumps(value, default=str, ensure_ascii=False, allow_nan=False)
    return _kept(json.loads(text))


def _kept(value: Any) -> Any:
    if isinstance(value, str):
        return _UNKEEPABLE.sub("�", value)
    if isinstance(value, list):
        return [_kept(item) for item in value]
    if isinstance(value, dict):
        return {_kept(key): _kept(item) for key, item in value.items()}
    return value
