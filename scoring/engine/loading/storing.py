"""A reading into a version and output sets: invisible until whole, then published at once."""

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

from scoring.core.files.mapping import OUTPUT_WORDS
from scoring.engine.loading import likenesses, removal
from scoring.engine.loading.intake import (
    ROWS_PER_TRANSACTION,
    CaseIntake,
    OutputDigests,
    OutputIntake,
    output_digest,
)
from scoring.engine.loading.reading import Reading
from scoring.engine.loading.report import RefusedError, Report
from scoring.engine.loading.room import room_aside
from scoring.models import (
    AuditEntry,
    Dataset,
    DatasetVersion,
    Output,
    OutputSet,
    OutputSetState,
    Team,
    User,
)

#: Told the rows read so far and the share of the file; raises StoppedError to end the work.
Beat = Callable[[int, float], None]

NAME_LENGTH: Final = 120


@dataclass(frozen=True)
class Loaded:
    """What came of a file. `is_new` is False when the version held exactly these cases before."""

    version: DatasetVersion
    output_sets: tuple[OutputSet, ...]
    report: Report
    is_new: bool = True

    @property
    def output_set(self) -> OutputSet:
        """The first output set; outputs files and single output columns have just one."""
        return self.output_sets[0]

    @property
    def unmatched(self) -> list[str]:
        return self.report.unmatched


@dataclass(frozen=True)
class Origin:
    """Who stores what, and what is to happen in the transaction that makes it visible."""

    by: User | None
    beat: Beat
    on_publish: Callable[[DatasetVersion, Report], None]
    series: str = ""
    dated: datetime | None = None


def named_dataset(team: Team, name: str, by: User | None) -> Dataset:
    """The team's dataset of that name, made if need be; it shows once it has a version."""
    dataset, _ = Dataset.objects.get_or_create(
        team=team, name=name[:NAME_LENGTH], defaults={"created_by": by}
    )
    return dataset


def store_dataset(
    reading: Reading, dataset: Dataset, origin: Origin, *, skips_bad_rows: bool = False
) -> Loaded:
    """A new version with an output set per output column; the version there was, if identical.

    Raises RefusedError when the rows have problems, and whatever `origin.beat` raises; nothing is
    then stored.
    """
    report = Report(skips_bad_rows=skips_bad_rows)
    version = DatasetVersion.with_loading.create(
        dataset=dataset,
        source_name=reading.name,
        mapping=reading.columns.choices(),
        created_by=origin.by,
    )
    try:
        with room_aside():
            sets = _new_sets(version, reading, origin)
            intake = CaseIntake(report, version, sets)
            read_through(reading, intake, origin.beat)
            intake.finish()
            _refuse_bad(report)
            twin = publish(version, sets, report, origin)
    except BaseException:
        removal.remove_version(version)
        raise
    if twin is None:
        return Loaded(version, tuple(sets.values()), report)
    removal.remove_version(version)
    return _loaded_into(twin, reading, report, origin)


def store_outputs_file(
    reading: Reading,
    version: DatasetVersion,
    origin: Origin,
    *,
    skips_bad_rows: bool = False,
    needs_outputs: bool = True,
) -> Loaded:
    """A new output set per output column over the version, matched by case key.

    OutputIntake tells what `needs_outputs` does. Raises RefusedError when the rows have problems
    or none matches.
    """
    report = Report(skips_bad_rows=skips_bad_rows)
    sets = _new_sets(version, reading, origin)
    try:
        with room_aside():
            intake = OutputIntake(report, version, sets, sets, needs_outputs=needs_outputs)
            read_through(reading, intake, origin.beat)
            intake.finish()
            _refuse_bad(report)
            with transaction.atomic():
                _show_sets(sets.values(), report, origin)
                origin.on_publish(version, report)
    except BaseException:
        for output_set in sets.values():
            removal.remove_output_set(output_set)
        raise
    return Loaded(version, tuple(sets.values()), report, is_new=False)


def read_through(
    reading: Reading, intake: CaseIntake | OutputIntake | OutputDigests, beat: Beat
) -> None:
    """Give the intake all rows, in batches of which each is one short transaction."""
    size = max(ROWS_PER_TRANSACTION // (1 + len(reading.columns.output)), 250)
    with _in_passing(), _rare_collections():
        for batch in reading.batches(intake.report, size):
            intake.take(batch)
            beat(intake.report.row_count, intake.report.share_read)
    beat(intake.report.row_count, 1.0)


@contextmanager
def _in_passing() -> Iterator[None]:
    """For rows that nobody sees yet: not synced one by one.

    A power cut may take them; the commit that publishes them syncs them all.
    """
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA synchronous=NORMAL")
        try:
            yield
        finally:
            cursor.execute("PRAGMA synchronous=FULL")


@contextmanager
def _rare_collections() -> Iterator[None]:
    """A batch's rows are many objects and none is part of a cycle: looking for some is slow."""
    usual = gc.get_threshold()
    gc.set_threshold(100_000, 20, 20)
    try:
        yield
    finally:
        gc.set_threshold(*usual)


def twin_of(dataset: Dataset, report: Report) -> DatasetVersion | None:
    """The newest version of the dataset that holds exactly the report's cases."""
    same = DatasetVersion.objects.filter(
        dataset=dataset, content_hash=report.content_hash, case_count=report.case_count
    )
    return same.order_by("-number").first()


def publish(
    version: DatasetVersion, sets: dict[str, OutputSet], report: Report, origin: Origin
) -> DatasetVersion | None:
    """Make the version visible; or leave it and return the one that has the same cases."""
    with transaction.atomic():
        dataset = Dataset.objects.select_for_update().get(pk=version.dataset_id)
        twin = twin_of(dataset, report)
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
        likenesses.settle(version, report)
    return None


def _loaded_into(twin: DatasetVersion, reading: Reading, report: Report, origin: Origin) -> Loaded:
    """The file's outputs on the version that has its cases; sets that are there too stay alone."""
    known = _twin_sets(twin, reading, report, origin)
    made: tuple[OutputSet, ...] = ()
    missing = [label for label in report.outputs if label not in known]
    if missing:
        made = store_outputs_file(
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
    return Loaded(twin, (*known.values(), *made), report, is_new=False)


def twin_outputs(intake: OutputIntake) -> dict[str, str]:
    """By label the name of an output set that holds exactly the outputs that were looked at."""
    found: dict[str, str] = {}
    for label, count in intake.report.outputs.items():
        sets = OutputSet.objects.ready().filter(version=intake.version, output_count=count)
        for output_set in sets if count else ():
            if output_digest(output_set) == intake.digests.digest_of(label):
                found[label] = f"{output_set.name}, {output_set.dated:%Y-%m-%d}"
                break
    return found


def _twin_sets(
    version: DatasetVersion, reading: Reading, report: Report, origin: Origin
) -> dict[str, OutputSet]:
    """By label the output sets of the version that hold exactly the file's outputs."""
    alike = {
        label: OutputSet.objects.ready().filter(
            version=version, name=_set_name(label, reading), output_count=count
        )
        for label, count in report.outputs.items()
    }
    if not any(sets.exists() for sets in alike.values()):
        return {}
    again = Report()
    digests = OutputDigests(again)
    read_through(reading, digests, lambda *_: origin.beat(report.row_count, 1.0))
    wanted = {label: digests.digest_of(label) for label in alike}
    return {
        label: output_set
        for label, sets in alike.items()
        for output_set in sets
        if output_digest(output_set) == wanted[label]
    }


def _new_sets(version: DatasetVersion, reading: Reading, origin: Origin) -> dict[str, OutputSet]:
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


def _set_name(label: str, reading: Reading) -> str:
    """The label tells models apart; a mere “output” says less than the file's name."""
    is_plain = label.lower() in (*OUTPUT_WORDS, "model_output")
    return (PurePath(reading.name).stem if is_plain else label)[:NAME_LENGTH]


def _show_sets(sets: Iterable[OutputSet], report: Report, origin: Origin) -> None:
    for output_set in sets:
        output_set.state = OutputSetState.READY
        output_set.output_count = Output.objects.filter(output_set=output_set).count()
        output_set.save(update_fields=["state", "output_count"])
        report.output_sets.append(str(output_set.uuid))
        team = output_set.version.dataset.team
        new = {"outputs": output_set.output_count, "unmatched": report.unmatched_count}
        AuditEntry.objects.record(team, origin.by, "output_set.created", output_set, new=new)


def _refuse_bad(report: Report) -> None:
    if report.is_storable and not report.case_count:
        report.is_readable = False
    if not report.is_storable:
        raise RefusedError(report)
