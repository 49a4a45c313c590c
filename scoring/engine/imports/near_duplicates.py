"""Cases whose inputs repeat earlier ones or are similar to them."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from scoring.core.files import NearDuplicates
from scoring.engine.imports.report import MARKED, ImportReport
from scoring.engine.jobs import job_queue
from scoring.models import Case, DatasetVersion, Job, JobKind, VersionDuplicates

_PART: Final = 5_000  # inputs read at once


def store_or_enqueue(version: DatasetVersion, report: ImportReport) -> None:
    """Store the duplicates that a dry run found, or let the worker search for them.

    Called in the transaction that publishes the version.
    """
    if report.is_near_known:
        VersionDuplicates.objects.keep(version, report.repeats, report.near)
    else:
        enqueue_search(version)


def enqueue_search(version: DatasetVersion) -> None:
    """Let the worker search, so that nobody waits."""
    team, request = version.dataset.team, {"version": str(version.uuid)}
    job_queue.enqueue(JobKind.FIND_DUPLICATES, team, request)


def run_search(job: Job) -> Mapping[str, Any]:
    """Search the version of a job: its answer is {repeats, near}, empty if the version is gone."""
    version = DatasetVersion.objects.filter(uuid=job.request["version"]).first()
    if version is None:
        return {}
    hashes, near = array("q"), NearDuplicates()
    for input_json in _inputs(version):
        hashes.append(hash(input_json))
        near.add(comparable_text(input_json))
    repeats = find_repeats(hashes)
    VersionDuplicates.objects.keep(version, repeats[:MARKED], nearest_pairs(near))
    return {"repeats": len(repeats), "near": len(near.found)}


def comparable_text(input_json: str) -> str:
    """The text that stands for an input when it is compared: its own, or its JSON."""
    if not input_json.startswith('"'):
        return input_json
    import orjson

    return str(orjson.loads(input_json))


def nearest_pairs(near: NearDuplicates) -> list[tuple[int, int, float]]:
    """The first near duplicates: position, that of the first similar case, similarity."""
    return [(pair.place, pair.first, round(pair.similarity, 3)) for pair in near.found[:MARKED]]


def find_repeats(hashes: Sequence[int]) -> list[tuple[int, int]]:
    """The positions, from 1, of hashes that occurred before, with that of the first; in order.

    A part of the hashes at a time: a dict of them all would take 100 bytes each.
    """
    parts = 1 + len(hashes) // 100_000
    repeats: list[tuple[int, int]] = []
    for part in range(parts):
        of_part = [value for value in hashes if value % parts == part]
        if len(set(of_part)) == len(of_part):
            continue
        first: dict[int, int] = {}
        for position, value in enumerate(hashes, start=1):
            if value % parts == part and (same := first.setdefault(value, position)) != position:
                repeats.append((position, same))
    return sorted(repeats)


def _inputs(version: DatasetVersion) -> Iterator[str]:
    """Every case's input in order, read in parts so that no cursor stays open."""
    cases = Case.objects.filter(version=version).order_by("position")
    rows, last = cases.values_list("position", "input_json"), 0
    while part := list(rows.filter(position__gt=last)[:_PART]):
        last = part[-1][0]
        yield from (input_json for _, input_json in part)
