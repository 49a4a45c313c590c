"""The preview says what the removal then does."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from scoring.engine.retention.preview import MAX_NAMED, preview_retention
from scoring.engine.retention.removal import REMOVALS
from scoring.models import AuditEntry, ModelCall, Output, RetentionPolicy, Run
from tests.engine.retention.conftest import AGE, Store, backdate

NONE = dict.fromkeys(RetentionPolicy.RULES)
HALF = AGE.days // 2


def test_no_rule_removes_nothing(store: Store) -> None:
    preview = preview_retention(store.team, NONE, timezone.now())
    assert preview.is_empty
    assert (preview.runs, preview.texts, preview.replies, preview.entries) == (None,) * 4


def test_what_is_previewed_is_what_goes(store: Store) -> None:
    now = timezone.now()
    preview = preview_retention(store.team, dict.fromkeys(NONE, HALF), now)
    assert preview.runs
    assert preview.texts
    assert (preview.runs.count, preview.runs.first, preview.runs.needed) == (1, [store.old], 0)
    assert (preview.texts.sets, preview.texts.outputs, preview.replies) == (1, 2, 1)
    assert preview.entries == 0
    for remove in REMOVALS.values():
        remove(store.team, now - timedelta(days=HALF))
    assert Run.with_deleted.exclude(deleted_at=None).count() == preview.runs.count
    assert Output.objects.filter(text=None).count() == preview.texts.outputs
    assert ModelCall.objects.exclude(removed_at=None).count() == preview.replies
    assert not AuditEntry.objects.filter(action="audit.removed").exists()


def test_after_the_removal_nothing_is_left_to_preview(store: Store) -> None:
    for remove in REMOVALS.values():
        remove(store.team, store.before)
    assert preview_retention(store.team, dict.fromkeys(NONE, HALF), timezone.now()).is_empty


def test_a_preview_looks_at_a_moment_to_come(store: Store) -> None:
    days = {**NONE, "replies_days": HALF}
    then = timezone.now() + timedelta(days=HALF + 1)
    assert preview_retention(store.team, days, then).replies == 2


def test_the_oldest_runs_are_named(store: Store) -> None:
    backdate(Run.objects.all(), "finished_at", "created_at")
    runs = preview_retention(store.team, {**NONE, "runs_days": HALF}, timezone.now()).runs
    assert runs
    assert (runs.first, runs.unnamed) == ([store.old, store.new], 0)
    assert len(runs.first) <= MAX_NAMED
