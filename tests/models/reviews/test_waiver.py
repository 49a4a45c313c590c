"""Waivers: sound terms, one open waiver for a case and scorer, ended and reopened on record."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from scoring.models import AuditEntry, Dataset, DatasetVersion, Scorer, Team, User, Waiver
from scoring.models.reviews.waiver import Terms, WaivedScorer
from tests.conftest import MakeDataset


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset([{"key": "a"}, {"key": "b"}])


@pytest.fixture
def dataset(version: DatasetVersion) -> Dataset:
    return version.dataset


@pytest.fixture
def scorer(team: Team) -> Scorer:
    return Scorer.objects.define(team, "close", "levenshtein", {})


def day(offset: int) -> date:
    return timezone.localdate() + timedelta(days=offset)


def waive(
    dataset: Dataset, scorer: Scorer, by: User, keys: str = "a", until: int = 7, reason: str = "ok"
) -> list[Waiver]:
    about = [WaivedScorer(key, scorer.pk) for key in keys]
    return Waiver.objects.waive(dataset, about, Terms(day(until), reason, by), by=by)


def test_a_waiver_holds_through_its_last_day(dataset: Dataset, scorer: Scorer, alice: User) -> None:
    (waiver,) = waive(dataset, scorer, alice, until=0)
    assert list(Waiver.objects.active()) == [waiver]
    assert (waiver.state, waiver.is_expired) == ("active", False)
    assert not Waiver.objects.active(day(1)).exists()
    Waiver.objects.update(until=day(-1))
    waiver.refresh_from_db()
    assert (waiver.state, list(Waiver.objects.open())) == ("expired", [waiver])


def test_other_terms_are_another_waiver(dataset: Dataset, scorer: Scorer, alice: User) -> None:
    (first,) = waive(dataset, scorer, alice)
    (second,) = waive(dataset, scorer, alice, until=9, reason=" Known since May. ")
    first.refresh_from_db()
    assert (first.state, first.ended_by) == ("ended", alice)
    assert (second.reason, list(Waiver.objects.open())) == ("Known since May.", [second])


@pytest.mark.parametrize(
    ("until", "reason", "field"),
    [(-1, "why", "until"), (7, "", "reason"), (7, "  \n", "reason"), (7, "x" * 2_001, "reason")],
)
def test_unsound_terms_are_refused(
    dataset: Dataset, scorer: Scorer, alice: User, until: int, reason: str, field: str
) -> None:
    with pytest.raises(ValidationError) as refused:
        waive(dataset, scorer, alice, until=until, reason=reason)
    assert list(refused.value.message_dict) == [field]
    assert not Waiver.objects.exists()


@pytest.mark.parametrize("name", ["bob", "charlie"])
def test_only_a_reviewer_of_the_team_can_own_one(
    dataset: Dataset, scorer: Scorer, alice: User, name: str, request: pytest.FixtureRequest
) -> None:
    owner = request.getfixturevalue(name)  # a viewer, a stranger
    terms = Terms(day(7), "why", owner)
    with pytest.raises(ValidationError) as refused:
        Waiver.objects.waive(dataset, [WaivedScorer("a", scorer.pk)], terms, by=alice)
    assert list(refused.value.message_dict) == ["owner"]


def test_ending_and_reopening_are_audited(dataset: Dataset, scorer: Scorer, alice: User) -> None:
    waivers = waive(dataset, scorer, alice, keys="ab")
    assert Waiver.objects.active().count() == 2
    assert Waiver.objects.end(dataset, waivers, by=alice) == 2
    assert not Waiver.objects.active().exists()
    assert Waiver.objects.in_state("ended").count() == 2
    assert Waiver.objects.end(dataset, waivers, by=alice) == 0
    (later,) = waive(dataset, scorer, alice, keys="b")
    assert Waiver.objects.reopen(dataset, waivers, by=alice) == 1  # b has another one by now
    open_keys = {w.case_key: w.pk for w in Waiver.objects.open()}
    assert open_keys == {"a": waivers[0].pk, "b": later.pk}
    actions = ["waiver.created", "waiver.ended", "waiver.created", "waiver.reopened"]
    entries = AuditEntry.objects.about(dataset).filter(action__startswith="waiver.")
    assert list(entries.order_by("number").values_list("action", flat=True)) == actions
    ended = entries.get(action="waiver.ended").new
    assert (ended["count"], [w["case"] for w in ended["waivers"]]) == (2, ["a", "b"])
    assert ended["waivers"][0]["reason"] == "ok"


def test_those_of_another_dataset_are_not_ended(
    dataset: Dataset, scorer: Scorer, alice: User, make_dataset: MakeDataset
) -> None:
    waivers = waive(dataset, scorer, alice)
    other = make_dataset([{"key": "a"}], name="Other").dataset
    assert Waiver.objects.end(other, waivers, by=alice) == 0
    assert Waiver.objects.open().count() == 1


def test_the_waiver_of_another_scorer_stays(dataset: Dataset, scorer: Scorer, alice: User) -> None:
    other = Scorer.objects.define(dataset.team, "tone", "exact_match", {}, by=alice)
    kept = waive(dataset, other, alice)
    waive(dataset, scorer, alice)
    later = waive(dataset, scorer, alice)
    assert list(Waiver.objects.open().order_by("pk")) == [*kept, *later]


def test_an_ended_waiver_is_no_expired_one(dataset: Dataset, scorer: Scorer, alice: User) -> None:
    waivers = waive(dataset, scorer, alice, keys="ab")
    Waiver.objects.update(until=day(-1))
    Waiver.objects.end(dataset, waivers[:1], by=alice)
    assert list(Waiver.objects.in_state("expired")) == waivers[1:]
    assert not Waiver.objects.in_state("active").exists()


def test_strangers_see_none(dataset: Dataset, scorer: Scorer, alice: User, charlie: User) -> None:
    waivers = waive(dataset, scorer, alice)
    assert list(Waiver.objects.visible_to(alice).for_list()) == waivers
    assert not Waiver.objects.visible_to(charlie).exists()
