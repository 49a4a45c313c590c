"""Storing what is read of a file: versions and output sets, hidden until they are complete."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath
from typing import Final

from django.db import connection, transaction
from django.utils import timezone

from scoring.core.files.columns.mapping import OUTPUT_WORDS
from scoring.core.files.columns.slots import case_slots, output_slots
from scoring.core.names import as_one_line
from scoring.engine.imports import cleanup, near_duplicates
from scoring.engine.imports.case_writer import (
    ROWS_PER_TRANSACTION,
    CaseWriter,
    OutputDigests,
    OutputWriter,
    output_digest,
)
from scoring.engine.imports.disk_reserve import reserve_disk
from scoring.engine.imports.reader import OpenFile
from scoring.engine.imports.report import ImportReport, RefusedError
from scoring.models import (
    AuditEntry,
    Case,
    Dataset,
    DatasetVersion,
    Output,
    OutputSet,
    OutputSetState,
    Team,
    User,
)
from scoring.models.bulk import MANY_ROWS, gather_statistics

#: Takes the rows read so far and the share of the file; raises StoppedError to end the work.
OnProgress = Callable[[int, float], None]

NAME_LENGTH: Final = 120
#: By database: not to wait for the disk at each commit, and to wait again.
_SYNC: Final = {
    "sqlite": ("PRAGMA synchronous=NORMAL", "PRAGMA synchronous=FULL"),
    "postgresql": ("SET synchronous_commit = off", "RESET synchronous_commit"),
}


@dataclass(frozen=True)
class ImportResult:
    """The result of an import. `is_new` is False if the version had exactly these cases before."""

    version: DatasetVersion
    output_sets: tuple[OutputSet, ...]
    report: ImportReport
    is_new: bool = True

    @property
    def output_set(self) -> OutputSet:
        """The first output set; outputs files and single output columns have just one."""
        return self.output_sets[0]

    @property
    def unmatched(self) -> list[str]:
        return self.report.unmatched


@dataclass(frozen=True)
class ImportOrigin:
    """Who imports, and what is called meanwhile and in the transaction that publishes the rows."""

    by: User | None
    beat: OnProgress = lambda _rows, _share: None
    on_publish: Callable[[DatasetVersion, ImportReport], None] = lambda _version, _report: None
    series: str = ""
    dated: datetime | None = None


def get_or_create_dataset(team: Team, name: str, by: User | None) -> Dataset:
    """The team's dataset of that name, made if need be; it shows once it has a version."""
    dataset, _ = Dataset.objects.get_or_create(
        team=team, name=name[:NAME_LENGTH], defaults={"created_by": by}
    )
    return dataset


def store_dataset(
    reading: OpenFile, dataset: Dataset, origin: ImportOrigin, *, skips_bad_rows: bool = False
) -> ImportResult:
    """A new version with an output set per output column; the version there was, if identical.

    Raises RefusedError when the rows have problems, and whatever `origin.beat` raises; nothing is
    then stored.
    """
    report = ImportReport(skips_bad_rows=skips_bad_rows, slots=case_slots(reading.columns))
    version = DatasetVersion.with_loading.create(
        dataset=dataset,
        source_name=reading.name,
        mapping=reading.columns.choices(),
        created_by=origin.by,
    )
    try:
        with reserve_disk():
            sets = _new_sets(version, reading, origin)
            writer = CaseWriter(report, version, sets)
            write_rows(reading, writer, origin.beat)
            writer.finish()
            _refuse_bad(report)
            twin = publish_import(version, sets, report, origin)
    except BaseException:
        cleanup.remove_version(version)
        raise
    if twin is None:
        if report.case_count >= MANY_ROWS:
            gather_statistics(Case, Output)
        return ImportResult(version, tuple(sets.values()), report)
    cleanup.remove_version(version)
    return _store_into_twin(twin, reading, report, origin)


def store_outputs_file(
    reading: OpenFile,
    version: DatasetVersion,
    origin: ImportOrigin,
    *,
    skips_bad_rows: bool = False,
    needs_outputs: bool = True,
) -> ImportResult:
    """A new output set per output column over the version, matched by case key.

    `needs_outputs` is that of OutputWriter. Raises RefusedError when the rows have problems or none
    matches.
    """
    report = ImportReport(
        skips_bad_rows=skips_bad_rows,
        unused_columns=reading.unused_columns,
        slots=output_slots(reading.columns),
    )
    sets = _new_sets(version, reading, origin)
    try:
        with reserve_disk():
            writer = OutputWriter(report, version, sets, sets, needs_outputs=needs_outputs)
            write_rows(reading, writer, origin.beat)
            writer.finish()
            _refuse_bad(report)
            with transaction.atomic():
                _show_sets(sets.values(), report, origin)
                origin.on_publish(version, report)
    except BaseException:
        for output_set in sets.values():
            cleanup.remove_output_set(output_set)
        raise
    if sum(report.outputs.values()) >= MANY_ROWS:
        gather_statistics(Output)
    return ImportResult(version, tuple(sets.values()), report, is_new=False)


def write_rows(
    reading: OpenFile, writer: CaseWriter | OutputWriter | OutputDigests, beat: OnProgress
) -> None:
    """Give the writer all rows, in batches each of which is one short transaction."""
    size = max(ROWS_PER_TRANSACTION // (1 + len(reading.columns.output)), 250)
    with _relaxed_sync(), _rare_collections():
        for batch in reading.batches(writer.report, size):
            writer.take(batch)
            beat(writer.report.row_count, writer.report.share_read)
    beat(writer.report.row_count, 1.0)


@contextmanager
def _relaxed_sync() -> Iterator[None]:
    """Do not sync each transaction to disk, as nobody sees the rows yet.

    A power cut may lose them; the commit that publishes them syncs them all.
    """
    relaxed, full = _SYNC[connection.vendor]
    if connection.in_atomic_block:
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute(relaxed)
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute(full)


@contextmanager
def _rare_collections() -> Iterator[None]:
    """Collect garbage rarely: a batch is many objects, and none of them is part of a cycle."""
    thresholds = gc.get_threshold()
    gc.set_threshold(100_000, 20, 20)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)


def identical_version(dataset: Dataset, report: ImportReport) -> DatasetVersion | None:
    """The newest version of the dataset that holds exactly the report's cases."""
    same = DatasetVersion.objects.filter(
        dataset=dataset, content_hash=report.content_hash, case_count=report.case_count
    )
    return same.order_by("-number").first()


def publish_import(
    version: DatasetVersion, sets: dict[str, OutputSet], report: ImportReport, origin: ImportOrigin
) -> DatasetVersion | None:
    """Make the version visible, or return the earlier one that has the same cases."""
    with transaction.atomic():
        dataset = Dataset.objects.select_for_update().get(pk=version.dataset_id)
        twin = identical_version(dataset, report)
        if twin is not None:
            report.identical_to = twin.number
            return twin
        version.dataset = dataset
        version.publish(
            content_hash=report.content_hash,
            case_count=report.case_count,
            skipped_rows=report.problem_count,
        )
        _show_sets(sets.values(), report, origin)
        action = "dataset.created" if version.number == 1 else "version.created"
        new = {"version": version.number, "cases": version.case_count, "file": version.source_name}
        AuditEntry.objects.record(dataset.team, origin.by, action, dataset, new=new)
        origin.on_publish(version, report)
        near_duplicates.store_or_enqueue(version, report)
    return None


def _store_into_twin(
    twin: DatasetVersion, reading: OpenFile, report: ImportReport, origin: ImportOrigin
) -> ImportResult:
    """Store the file's outputs into the version that has its cases, unless they are stored too."""
    known = _twin_sets(twin, reading, report, origin)
    new: tuple[OutputSet, ...] = ()
    missing = [label for label in report.outputs if label not in known]
    if missing:
        new = store_outputs_file(
            reading.with_labels(missing),
            twin,
            origin,
            skips_bad_rows=report.skips_bad_rows,
            needs_outputs=False,
        ).output_sets
    else:
        report.output_sets = [str(output_set.uuid) for output_set in known.values()]
        with transaction.atomic():
            origin.on_publish(twin, report)
    return ImportResult(twin, (*known.values(), *new), report, is_new=False)


def identical_outputs(writer: OutputWriter) -> dict[str, str]:
    """By label the name of an output set that holds exactly the outputs that were read."""
    names: dict[str, str] = {}
    for label, count in writer.report.outputs.items():
        sets = OutputSet.objects.ready().filter(version=writer.version, output_count=count)
        for output_set in sets if count else ():
            if output_digest(output_set) == writer.digests.digest_of(label):
                names[label] = f"{output_set.name}, {output_set.dated:%Y-%m-%d}"
                break
    return names


def _twin_sets(
    version: DatasetVersion, reading: OpenFile, report: ImportReport, origin: ImportOrigin
) -> dict[str, OutputSet]:
    """By label the output sets of the version that hold exactly the file's outputs."""
    candidates = {
        label: OutputSet.objects.ready().filter(
            version=version, name=_set_name(label, reading), output_count=count
        )
        for label, count in report.outputs.items()
    }
    if not any(sets.exists() for sets in candidates.values()):
        return {}
    digests = OutputDigests(ImportReport())
    write_rows(reading, digests, lambda *_: origin.beat(report.row_count, 1.0))
    return {
        label: output_set
        for label, sets in candidates.items()
        for output_set in sets
        if output_digest(output_set) == digests.digest_of(label)
    }


def _new_sets(
    version: DatasetVersion, reading: OpenFile, origin: ImportOrigin
) -> dict[str, OutputSet]:
    labels = list(reading.columns.labels.values())
    dated = origin.dated or timezone.now()
    sets = {}
    with transaction.atomic():
        for label in labels:
            name = _set_name(label, reading)
            is_only = len(labels) == 1
            sets[label] = OutputSet.objects.create(
                version=version,
                name=name,
                series=((origin.series if is_only else "") or name)[:NAME_LENGTH],
                dated=dated,
                source_name=reading.name,
                created_by=origin.by,
            )
    return sets


def _set_name(label: str, reading: OpenFile) -> str:
    """The label, or the file's name for a label that only says “output”."""
    is_plain = label.lower() in (*OUTPUT_WORDS, "model_output")
    name = PurePath(reading.name).stem if is_plain else label
    return as_one_line(name)[:NAME_LENGTH] or "output"


def _show_sets(sets: Iterable[OutputSet], report: ImportReport, origin: ImportOrigin) -> None:
    for output_set in sets:
        output_set.state = OutputSetState.READY
        output_set.output_count = Output.objects.filter(output_set=output_set).count()
        output_set.save(update_fields=["state", "output_count"])
        report.output_sets.append(str(output_set.uuid))
        team = output_set.version.dataset.team
        new = {"outputs": output_set.output_count, "unmatched": report.unmatched_count}
        AuditEntry.objects.record(team, origin.by, "output_set.created", output_set, new=new)


def _refuse_bad(report: ImportReport) -> None:
    if report.is_storable and not report.case_count:
        report.is_readable = False
    if not report.is_storable:
        raise RefusedError(report)
