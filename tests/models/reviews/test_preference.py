"""One preference a person between two outputs."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction

from scoring.models import AuditEntry, Output, Preference, PreferenceVerdict, User
from scoring.models.reviews.preference import PreferenceQuerySet, StalePreferenceError
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.run_states import queued_run

pytestmark = pytest.mark.django_db


def test_a_person_prefers_once(
    make_dataset: MakeDataset, make_outputs: MakeOutputs, alice: User
) -> None:
    version = make_dataset([{"input": "q"}])
    for text in ("new", "old"):
        make_outputs(version, [text])
    candidate, baseline = Output.objects.order_by("pk")
    fields = {"candidate": candidate, "baseline": baseline, "reviewer": alice}
    made = Preference.objects.create(**fields, verdict=PreferenceVerdict.WORSE)
    assert (made.code, str(made)) == ("worse", "alice@example.org: worse")
    with pytest.raises(IntegrityError), transaction.atomic():
        Preference.objects.create(**fields, verdict=PreferenceVerdict.BETTER)


def test_two_windows_of_one_person_do_not_overwrite_each_other(
    make_dataset: MakeDataset, make_outputs: MakeOutputs, alice: User
) -> None:
    version = make_dataset([{"input": "q"}])
    run = queued_run(make_outputs(version, ["new"]))
    make_outputs(version, ["old"])
    candidate, baseline = Output.objects.order_by("pk")
    outputs = (candidate, baseline)
    give = Preference.objects.prefer
    first = give(run, outputs, PreferenceVerdict.BETTER, by=alice, seen="")
    with pytest.raises(StalePreferenceError) as stale:
        give(run, outputs, PreferenceVerdict.WORSE, by=alice, seen="")
    assert stale.value.current == first
    give(run, outputs, PreferenceVerdict.WORSE, by=alice, seen="better")
    assert Preference.objects.get().code == "worse"
    Preference.objects.clear(run, outputs, by=alice)
    assert Preference.objects.clear(run, outputs, by=alice) is None
    actions = AuditEntry.objects.filter(action__startswith="preference.").values_list("action")
    assert sorted(actions) == [("preference.cleared",), *[("preference.given",)] * 2]


@pytest.mark.parametrize("seen", ["", None])
def test_a_first_preference_that_is_sent_twice_at_once_is_one(
    make_dataset: MakeDataset,
    make_outputs: MakeOutputs,
    alice: User,
    monkeypatch: pytest.MonkeyPatch,
    seen: str | None,
) -> None:
    version = make_dataset([{"input": "q"}])
    run = queued_run(make_outputs(version, ["new"]))
    make_outputs(version, ["old"])
    candidate, baseline = Output.objects.order_by("pk")
    give, outputs = Preference.objects.prefer, (candidate, baseline)
    first = give(run, outputs, PreferenceVerdict.BETTER, by=alice)
    monkeypatch.setattr(PreferenceQuerySet, "_own", lambda *_: None)  # the other is not stored yet
    if seen is None:
        assert give(run, outputs, PreferenceVerdict.WORSE, by=alice) == first
        old = {"verdict": "better", "note": ""}
        assert AuditEntry.objects.latest("pk").old == old
        return
    with pytest.raises(StalePreferenceError) as stale:
        give(run, outputs, PreferenceVerdict.WORSE, by=alice, seen=seen)
    assert stale.value.current == first
    assert Preference.objects.get().code == "better"
