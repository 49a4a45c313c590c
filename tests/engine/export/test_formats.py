"""Rows as a file: its name, its formats, and a stream that ends early."""

from __future__ import annotations

import json
from itertools import islice

import pytest

from scoring.engine.export import FILE_FORMATS, output_set_table, run_table, version_table
from scoring.engine.export.formats import CHUNK, safe_file_stem
from scoring.models import Output, Run
from scoring.models.case_list.filters import CaseFilters
from scoring.models.case_list.table import CaseOrder
from tests.conftest import MakeDataset
from tests.engine.export.test_results import CASES, four, rows_of, run, table_of
from tests.support.finished_runs import run_with

__all__ = ["four", "run"]


@pytest.mark.parametrize(
    ("name", "file_stem"),
    [
        ("Answers v1", "Answers-v1"),
        ("../../etc/passwd", "etc-passwd"),
        ('a"b\\c/d:e*f?g|h<i>', "a-b-c-d-e-f-g-h-i"),
        ("line\r\nSet-Cookie: x=1", "line-Set-Cookie-x-1"),
        ("\u202egnp.exe", "gnp.exe"),
        ("Größe 東京", "Größe-東京"),
        (".hidden", "hidden"),
        ("a...b", "a-b"),
        ("\U0001f600", "export"),
        ("", "export"),
        ("x" * 200, "x" * 60),
    ],
)
def test_a_file_is_called_so_that_every_system_takes_it(name: str, file_stem: str) -> None:
    assert safe_file_stem(name) == file_stem
    assert len(f"{safe_file_stem(name)}.jsonl".encode()) <= 255


def test_formats_are_named_as_files_end() -> None:
    assert set(FILE_FORMATS) == {"csv", "jsonl", "json"}


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("formats", "cases", "outputs"):
        monkeypatch.setattr(f"scoring.engine.export.{name}.BATCH", 3)


@pytest.mark.usefixtures("small_batches")
def test_batches_meet_without_gap_or_repeat(make_dataset: MakeDataset) -> None:
    version = make_dataset([{"key": f"q{n}"} for n in range(10)])
    run = run_with(version, {"close": [n / 40 for n in range(20)]}, trials=2)
    close = run.scorers.get()
    both = [(f"q{n}", trial) for n in range(10) for trial in (0, 1)]
    backwards = run_table(table_of(run, CaseFilters(), CaseOrder(close, True)))
    assert [row["key"] for row in rows_of(version_table(version))] == [f"q{n}" for n in range(10)]
    for sheet, wanted in (
        (output_set_table(run.output_set), both),
        (run_table(table_of(run)), both),
        (backwards, both[::-1]),
    ):
        assert [(row["key"], row["trial"]) for row in rows_of(sheet)] == wanted


def test_rows_that_are_gone_end_the_stream_before_its_last_line(
    four: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    sheet = run_table(table_of(four))
    Output.objects.filter(case__key="q3").delete()
    monkeypatch.setattr("scoring.engine.export.formats.CHUNK", 1)
    monkeypatch.setattr("scoring.engine.export.formats.BATCH", 1)
    stream = sheet.stream("jsonl")
    assert [json.loads(chunk)["key"] for chunk in islice(stream, 2)] == ["q1", "q2"]
    with pytest.raises(KeyError):
        next(stream)


def test_a_stream_that_is_given_up_has_no_last_line(
    make_dataset: MakeDataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scoring.engine.export.formats.CHUNK", 1)
    sheet = version_table(make_dataset(CASES))
    for file_format, end in (("jsonl", b"_rows"), ("json", b"]\n")):
        stream = sheet.stream(file_format)
        begun = b"".join(islice(stream, 2))
        stream.close()  # type: ignore[attr-defined]  # a generator
        assert b"q2" in begun
        assert end not in begun


def test_little_is_held_at_a_time(make_dataset: MakeDataset) -> None:
    version = make_dataset([{"key": f"q{n}", "input": "x" * 1_000} for n in range(500)])
    for file_format in FILE_FORMATS:
        *chunks, _ = version_table(version).stream(file_format)
        assert all(CHUNK <= len(chunk) < CHUNK + 4_000 for chunk in chunks)
        assert len(chunks) >= 7
