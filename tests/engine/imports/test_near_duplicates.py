"""Cases that repeat earlier ones or are similar to them, however their version was made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.management import call_command

from scoring.engine import drafts, imports
from scoring.engine.imports import near_duplicates
from scoring.engine.imports.near_duplicates import find_repeats
from scoring.engine.jobs import job_queue
from scoring.models import (
    Case,
    Dataset,
    DatasetVersion,
    Job,
    JobKind,
    JobState,
    Team,
    User,
    VersionDuplicates,
)
from scoring.models.data.near_duplicate import NearDuplicate
from tests.support.fixtures.uploads import Put, check, jsonl, load

QUESTION = "Which of the two customers was refunded on Monday, and how much was it?"
INPUTS = [QUESTION, "another", QUESTION, QUESTION.upper(), {"a": [1]}, {"a": [1]}]
MARKS = {3: NearDuplicate(1, 1.0), 4: NearDuplicate(1, 1.0), 6: NearDuplicate(5, 1.0)}

Make = Callable[[Team, User, Path], DatasetVersion]


def latest(name: str) -> DatasetVersion:
    return DatasetVersion.objects.filter(dataset__name=name).latest("number")


def by_the_api(team: Team, alice: User, _: Path) -> DatasetVersion:
    cases = [{"key": f"q{n}", "input": given} for n, given in enumerate(INPUTS)]
    return imports.store_cases(team, "Api", cases, by=alice).version


def by_the_command(team: Team, _: User, folder: Path) -> DatasetVersion:
    path = folder / "cases.jsonl"
    path.write_bytes(jsonl(*({"input": given} for given in INPUTS)))
    call_command("import", str(path), "--dataset", "Command", verbosity=0)
    return latest("Command")


def by_a_draft(team: Team, alice: User, folder: Path) -> DatasetVersion:
    version = by_the_api(team, alice, folder)
    Job.objects.all().delete()
    draft = drafts.open_draft(version.dataset, alice)
    drafts.delete_case(draft, "q1", alice)
    draft.message = "one less"
    draft.save()
    return drafts.publish_draft(draft, alice)


def by_a_split(team: Team, alice: User, folder: Path) -> DatasetVersion:
    version = by_the_api(team, alice, folder)
    Job.objects.all().delete()
    made = drafts.split_dataset(version, [1, 3, 4], "Part", "part of Api v1", alice)
    assert made.latest is not None
    return made.latest


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (by_the_api, MARKS),
        (by_the_command, MARKS),
        (
            by_a_draft,
            {2: NearDuplicate(1, 1.0), 3: NearDuplicate(1, 1.0), 5: NearDuplicate(4, 1.0)},
        ),
        (by_a_split, {2: NearDuplicate(1, 1.0), 3: NearDuplicate(1, 1.0)}),
    ],
)
def test_the_worker_looks_at_a_version_nobody_looked_at(
    team: Team, alice: User, tmp_path: Path, make: Make, expected: dict[int, NearDuplicate]
) -> None:
    version = make(team, alice, tmp_path)
    assert VersionDuplicates.objects.of(version) == {}
    job = Job.objects.get(kind=JobKind.FIND_DUPLICATES)
    assert job.requested_by is None
    job_queue.run_job(job)
    job.refresh_from_db()
    assert (job.state, job.problem) == (JobState.DONE, "")
    assert VersionDuplicates.objects.of(version) == expected


def test_what_a_dry_run_found_is_kept_and_not_looked_for_again(put: Put) -> None:
    upload = load(put(f'id,input\n1,"{QUESTION}"\n2,a\n3,a\n4,"{QUESTION} "\n'.encode()))
    assert upload.version is not None
    found = VersionDuplicates.objects.of(upload.version)
    assert {place: each.first for place, each in found.items()} == {3: 2, 4: 1}
    assert not Job.objects.exists()


def test_cases_that_were_there_already_are_not_looked_at_again(team: Team, alice: User) -> None:
    for _ in range(2):
        imports.store_cases(team, "Api", [{"key": "a", "input": "b"}], by=alice)
    assert Job.objects.count() == 1


def test_a_draft_that_fails_leaves_nothing_to_do(
    team: Team, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = imports.store_cases(team, "Api", [{"key": "a", "input": "b"}], by=alice).version
    Job.objects.all().delete()

    def full(*_: object, **__: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("scoring.engine.drafts.case_copy.bulk_insert", full)
    with pytest.raises(OSError, match="disk full"):
        drafts.split_dataset(version, [1], "Part", "part", alice)
    assert not Job.objects.exists()
    assert Dataset.objects.count() == 1


def test_a_version_that_is_gone_needs_nothing(team: Team) -> None:
    duplicates_of_none = {"version": "00000000-0000-0000-0000-000000000000"}
    job = Job(team=team, kind=JobKind.FIND_DUPLICATES, request=duplicates_of_none)
    assert near_duplicates.run_search(job) == {}


def test_inputs_are_read_in_parts(team: Team, alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(near_duplicates, "_PART", 2)
    version = by_the_api(team, alice, Path())
    job = Job.objects.get()
    assert near_duplicates.run_search(job) == {"repeats": 2, "near": 1}
    assert Case.objects.filter(version=version).count() == len(INPUTS)
    assert VersionDuplicates.objects.of(version) == MARKS


def numbered(rows: list[str]) -> bytes:
    return "".join(f'{n},"{row}"\n' for n, row in enumerate(rows)).encode()


def test_a_dry_run_places_repeats_and_near_duplicates(put: Put) -> None:
    rows = [QUESTION, "another", QUESTION, QUESTION.upper(), "another"]
    report = check(put(b"id,input\n" + numbered(rows))).report
    assert report["duplicate_inputs"] == 2
    assert report["repeats"] == [[3, 1], [5, 2]]
    assert report["near"] == [[4, 1, 1.0]]
    assert report["near_count"] == 1


def test_an_import_keeps_what_the_dry_run_found(put: Put) -> None:
    upload = load(put(b"id,input\n" + numbered([QUESTION, QUESTION.lower(), QUESTION])))
    assert upload.report["near"] == [[2, 1, 1.0]]
    assert upload.report["repeats"] == [[3, 1]]


def test_inputs_that_are_objects_repeat_by_their_value(put: Put) -> None:
    given = [{"a": [1]}, {"a": [1]}, 1]
    rows = jsonl(*({"id": n, "input": each} for n, each in enumerate(given)))
    assert check(put(rows, "cases.jsonl")).report["repeats"] == [[2, 1]]


@pytest.mark.parametrize("count", [0, 1, 10, 250_000])
def test_repeats_are_found_however_many_there_are(count: int) -> None:
    values = [hash(f"text {n}") for n in range(count)]
    assert find_repeats(values) == []
    again = values[: count // 3]
    assert find_repeats(values + again) == [(count + n, n) for n in range(1, len(again) + 1)]


def test_a_repeat_leads_to_the_first_of_its_like() -> None:
    assert find_repeats([7, 7, 8, 7, 8]) == [(2, 1), (4, 1), (5, 3)]
