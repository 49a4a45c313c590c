"""Cases whose inputs repeat earlier ones, or are much like them: found at once or by the worker."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from scoring.core.files import NearDuplicates
from scoring.engine.loading.report import MARKED, Report
from scoring.models import Case, DatasetVersion, Errand, ErrandKind, Likenesses

_PART: Final = 5_000  # inputs read at once


def settle(version: DatasetVersion, report: Report) -> None:
    """In the transaction that publishes: keep what a dry run found, or leave it to the worker."""
    if report.is_near_known:
        Likenesses.objects.keep(version, report.repeats, report.near)
    else:
        leave(version)


def leave(version: DatasetVersion) -> None:
    """Let the worker look, so that nobody waits for it."""
    from scoring.engine import errands  # it knows this module

    team, request = version.dataset.team, {"version": str(version.uuid)}
    errands.leave(ErrandKind.FIND_LIKENESSES, team, request)


def done_errand(errand: Errand) -> Mapping[str, Any]:
    """The worker's part; a version that is gone needs none."""
    version = DatasetVersion.objects.filter(uuid=errand.request["version"]).first()
    if version is None:
        return {}
    hashes, near = array("q"), NearDuplicates()
    for given in _inputs(version):
        hashes.append(hash(given))
        near.add(plain(given))
    found = repeats_among(hashes)
    Likenesses.objects.keep(version, found[:MARKED], placed(near))
    return {"repeats": len(found), "near": len(near.found)}


def plain(input_json: str) -> str:
    """The text that stands for an input when it is compared: its own, or its JSON."""
    if not input_json.startswith('"'):
        return input_json
    import orjson

    return str(orjson.loads(input_json))


def placed(near: NearDuplicates) -> list[tuple[int, int, float]]:
    """The first near duplicates: position, that of the first of its like, similarity."""
    found = near.found[:MARKED]
    return [(each.place, each.first, round(each.similarity, 3)) for each in found]


def repeats_among(hashes: Sequence[int]) -> list[tuple[int, int]]:
    """The places, from 1, of what came before, each with the first of its like; in order.

    Looked for part by part: a dict of them all would take 100 bytes each.
    """
    parts = 1 + len(hashes) // 100_000
    found: list[tuple[int, int]] = []
    for part in range(parts):
        mine = [each for each in hashes if each % parts == part]
        if len(set(mine)) == len(mine):
            continue
        first: dict[int, int] = {}
        for place, each in enumerate(hashes, start=1):
            if each % parts == part and (earlier := first.setdefault(each, place)) != place:
                found.append((place, earlier))
    return sorted(found)


def _inputs(version: DatasetVersion) -> Iterator[str]:
    """Every case's input in order, read in parts so that no cursor stays open."""
    rows = Case.objects.filter(version=version).order_by("position")
    last = 0
    while part := list(
        rows.filter(position__gt=last).values_list("position", "input_json")[:_PART]
    ):
        last = part[-1][0]
        for _, given in part:
            yield given
