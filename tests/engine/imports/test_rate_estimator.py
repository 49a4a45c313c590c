"""How far an upload is, how fast it goes and how long it will still take."""

from __future__ import annotations

import gzip
import io
import random
from collections.abc import Callable

import pytest

from scoring.core.files import Source, detect_format, read_rows
from scoring.engine import imports
from scoring.engine.imports import rate_estimator
from scoring.engine.jobs import lease
from scoring.models import Upload
from tests.support.fixtures.uploads import AtEachBeat, Put, check, jsonl, many
from tests.support.workbooks import simple

CHANCE = random.Random(7)
ROWS = [{"id": n, "input": CHANCE.randbytes(250).hex()} for n in range(9_000)]


class Clock:
    """Stands in for the time module."""

    now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(rate_estimator, "time", made)
    return made


@pytest.mark.parametrize(
    ("beats", "expected"),
    [
        ([(10, 1_000, 0.25)], (100, 30)),
        ([(5, 250, 0.0)], (50, None)),
        ([(5, 0, 0.1)], (None, 45)),
        ([(10, 1_000, 1.0)], (None, None)),
        ([(0, 1_000, 0.5)], (None, None)),
        # A slow start is forgotten: ten beats of a second each at ten times the pace.
        ([(100, 1_000, 0.1), *((1, 1_000 + 100 * n, 0.1 + 0.01 * n) for n in range(1, 11))],
         (100, pytest.approx(80))),
        # What begins again from the first row has no pace below none.
        ([(10, 1_000, 0.9), (10, 10, 0.1)], (0.5, 180)),
    ],
)  # fmt: skip
def test_rate_and_time_left_are_those_of_the_latest_beats(
    clock: Clock, beats: list[tuple[float, int, float]], expected: tuple[object, ...]
) -> None:
    trail = rate_estimator.RateEstimator()
    found: tuple[object, ...] = ()
    for seconds, rows, share in beats:
        clock.now += seconds
        found = trail.pace(rows, share)
    assert found == expected


@pytest.mark.parametrize(
    ("state", "kind", "share", "stage"),
    [
        ("checking", "dataset", 0.1, "reading and checking every row"),
        ("checking", "dataset", 1.0, "comparing with what is there"),
        ("loading", "dataset", 0.1, "reading the rows and storing cases"),
        ("loading", "outputs", 0.1, "reading the rows and storing outputs"),
        ("loading", "outputs", 1.0, "making the rows visible"),
    ],
)
def test_a_stage_is_told_in_words(
    put: Put, state: str, kind: str, share: float, stage: str
) -> None:
    upload = put(b"id,input\n1,a\n")
    lease.acquire(upload)
    upload.state, upload.kind, upload.share_read = state, kind, share
    assert imports.stage_of(upload) == stage


def test_what_nobody_works_on_waits(put: Put) -> None:
    assert imports.stage_of(put(b"id,input\n1,a\n")) == "waiting for the worker"


@pytest.mark.parametrize("step", [imports.check_upload, imports.import_upload])
def test_an_upload_knows_how_far_it_is_and_how_fast(
    put: Put, at_each_beat: AtEachBeat, step: Callable[[Upload], None]
) -> None:
    upload = put(many())
    asked = imports.request_check if step is imports.check_upload else imports.request_load
    assert asked(upload)
    lease.acquire(upload)
    seen: list[float] = []
    rates: list[float | None] = []

    def look() -> None:
        now = Upload.objects.get(pk=upload.pk)
        seen.append(now.share_read)
        rates.append(now.rows_a_second)

    at_each_beat(look)
    step(upload)
    assert seen == sorted(seen)
    assert (seen[0], rates[0]) == (0.0, None)
    assert all(rates[1:])
    assert Upload.objects.get(pk=upload.pk).share_read == 1.0


def test_a_step_asked_for_again_begins_from_nothing(put: Put) -> None:
    upload = check(put(b"id,input\n1,a\n"))
    assert upload.share_read == 1.0
    imports.request_load(upload)
    assert (upload.row_count, upload.share_read, upload.seconds_left) == (0, 0.0, None)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", many(200_000)),
        ("a.jsonl", jsonl(*ROWS)),
        ("a.jsonl.gz", gzip.compress(jsonl(*ROWS), 1, mtime=0)),
        ("a.xlsx", simple(*((f"{row['id']}", f"{row['input']}") for row in ROWS))),
    ],
)
def test_every_format_tells_how_much_of_it_was_read(
    name: str, content: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("files") / name
    path.write_bytes(content)
    with path.open("rb") as stream:
        source = Source(stream, name)
        found = detect_format(Source(io.BytesIO(content), name))
        shares = [source.share for _ in read_rows(source, found)]
    assert shares == sorted(shares)
    assert 0.0 < shares[len(shares) // 2] < 1.0
    assert shares[-1] == pytest.approx(1.0, abs=0.05)
