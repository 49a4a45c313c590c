"""Every version says which of its cases are like earlier ones, however it was made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.management import call_command

from scoring.engine import drafts, errands, loading
from scoring.engine.loading import likenesses
from scoring.models import (
    Case,
    Dataset,
    DatasetVersion,
    Errand,
    ErrandKind,
    ErrandState,
    Likenesses,
    Team,
    User,
)
from scoring.models.likeness import Likeness
from tests.engine.loading.conftest import Put, load

QUESTION = "Which of the two customers was refunded on Monday, and how much was it?"
INPUTS = [QUESTION, "another", QUESTION, QUESTION.upper(), {"a": [1]}, {"a": [1]}]
MARKS = {3: Likeness(1, 1.0), 4: Likeness(1, 1.0), 6: Likeness(5, 1.0)}

Make = Callable[[Team, User, Path], DatasetVersion]


def latest(name: str) -> DatasetVersion:
    return DatasetVersion.objects.filter(dataset__name=name).latest("number")


def by_the_api(team: Team, alice: User, _: Path) -> DatasetVersion:
    cases = [{"key": f"q{n}", "input": given} for n, given in enumerate(INPUTS)]
    return loading.store_cases(team, "Api", cases, by=alice).version


def by_the_command(team: Team, _: User, folder: Path) -> DatasetVersion:
    import json

    path = folder / "cases.jsonl"
    path.write_text("".join(json.dumps({"input": given}) + "\n" for given in INPUTS))
    call_command("import", str(path), "--dataset", "Command", verbosity=0)
    return latest("Command")


def by_a_draft(team: Team, alice: User, folder: Path) -> DatasetVersion:
    version = by_the_api(team, alice, folder)
    Errand.objects.all().delete()
    draft = drafts.begin(version.dataset, alice)
    drafts.delete_case(draft, "q1", alice)
    draft.message = "one less"
    draft.save()
    return drafts.publish(draft, alice)


def by_carving(team: Team, alice: User, folder: Path) -> DatasetVersion:
    version = by_the_api(team, alice, folder)
    Errand.objects.all().delete()
    made = drafts.carve(version, [1, 3, 4], "Part", "part of Api v1", alice)
    assert made.latest is not None
    return made.latest


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (by_the_api, MARKS),
        (by_the_command, MARKS),
        (by_a_draft, {2: Likeness(1, 1.0), 3: Likeness(1, 1.0), 5: Likeness(4, 1.0)}),
        (by_carving, {2: Likeness(1, 1.0), 3: Likeness(1, 1.0)}),
    ],
)
def test_the_worker_looks_at_a_version_nobody_looked_at(
    team: Team,
    alice: User,
    tmp_path: Path,
    make: Make,
    expected: dict[int, Likeness],
) -> None:
    version = make(team, alice, tmp_path)
    assert Likenesses.objects.of(version) == {}
    errand = Errand.objects.get(kind=ErrandKind.FIND_LIKENESSES)
    assert errand.asked_by is None
    errands.do(errand)
    errand.refresh_from_db()
    assert (errand.state, errand.problem) == (ErrandState.DONE, "")
    assert Likenesses.objects.of(version) == expected


def test_what_a_dry_run_found_is_kept_and_not_looked_for_again(put: Put) -> None:
    upload = load(put(f'id,input\n1,"{QUESTION}"\n2,a\n3,a\n4,"{QUESTION} "\n'.encode()))
    assert upload.version is not None
    found = Likenesses.objects.of(upload.version)
    assert {place: each.first for place, each in found.items()} == {3: 2, 4: 1}
    assert not Errand.objects.exists()


def test_cases_that_were_there_already_are_not_looked_at_again(team: Team, alice: User) -> None:
    for _ in range(2):
        loading.store_cases(team, "Api", [{"key": "a", "input": "b"}], by=alice)
    assert Errand.objects.count() == 1


def test_a_draft_that_fails_leaves_nothing_to_do(
    team: Team, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = loading.store_cases(team, "Api", [{"key": "a", "input": "b"}], by=alice).version
    Errand.objects.all().delete()

    def full(*_: object, **__: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("scoring.engine.drafts.copying.insert", full)
    with pytest.raises(OSError, match="disk full"):
        drafts.carve(version, [1], "Part", "part", alice)
    assert not Errand.objects.exists()
    assert Dataset.objects.count() == 1


def test_a_version_that_is_gone_needs_nothing(team: Team) -> None:
    likenesses_of_none = {"version": "00000000-0000-0000-0000-000000000000"}
    errand = Errand(team=team, kind=ErrandKind.FIND_LIKENESSES, request=likenesses_of_none)
    assert likenesses.done_errand(errand) == {}


def test_inputs_are_read_in_parts(team: Team, alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(likenesses, "_PART", 2)
    version = by_the_api(team, alice, Path())
    errand = Errand.objects.get()
    assert likenesses.done_errand(errand) == {"repeats": 2, "near": 1}
    assert Case.objects.filter(version=version).count() == len(INPUTS)
    assert Likenesses.objects.of(version) == MARKS
