"""Watched series: what was seen of them, and which are looked at."""

from __future__ import annotations

from scoring.models import AlertRule, AlertWatch, Dataset, User
from tests.models.alerts.test_rule import dataset, define, scored

__all__ = ["dataset", "scored"]


def test_what_is_paused_or_deleted_is_not_looked_at(scored: Dataset, alice: User) -> None:
    rule = define(scored, series="a")
    run = rule.dataset.versions.get().output_sets.get(series="a").runs.get()
    assert list(AlertRule.objects.watching(run)) == [rule]
    for undo, do in ((rule.resume, rule.pause), (rule.restore, rule.remove)):
        do(by=alice)
        assert not AlertWatch.objects.due().exists()
        assert not AlertRule.objects.watching(run).exists()
        undo(by=alice)
        assert AlertWatch.objects.due().exists()


def test_looking_again_keeps_what_was_seen(scored: Dataset) -> None:
    rule = define(scored, series="a")
    rule.watches.update(state="fine", evaluate_at=None)
    AlertWatch.objects.schedule([rule], ["a"])
    watch = rule.watches.get()
    assert (watch.state, watch.evaluate_at is not None) == ("fine", True)


def test_watches_are_written_in_one_order(scored: Dataset) -> None:
    """Two workers that write the same ones would wait for each other else."""
    rules = [define(scored, series="a"), define(scored, limit=0.5)]
    AlertWatch.objects.all().delete()
    AlertWatch.objects.schedule(rules[::-1], ["c", "b"])
    written = AlertWatch.objects.order_by("pk").values_list("rule", "series")
    assert list(written) == [(rule.pk, series) for rule in rules for series in "bc"]
