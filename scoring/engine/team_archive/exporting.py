"""A team written into one file, as it is at one moment, while the site runs."""

from __future__ import annotations

import base64
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final, cast

import orjson
from django.db import connection, models
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from scoring.core.private_files import open_private
from scoring.engine.backups.archive import describe, is_packed, write_archive
from scoring.engine.team_archive.layout import (
    AUDIT,
    PEOPLE,
    TeamArchiveError,
    TeamManifest,
    file_of,
)
from scoring.engine.team_archive.references import RANGE, Numbers, People, map_refs, shard_model
from scoring.engine.team_archive.tables import ENTRY, PERSON, TABLES, Model, Table
from scoring.models import AuditCheckpoint, AuditEntry, ModelCall, Run, Score, Shard, Team, User

CHUNK: Final = 2_000

Convert = Callable[[Any], Any]


def export_team(team: Team, target: Path, *, overwrites: bool = False) -> TeamManifest:
    """Write the team into the file `target`, packed where its name ends in .gz or .tgz.

    Secrets stay behind: tokens, keys of connections, webhooks, passwords. Raises TeamArchiveError
    while a run of the team has not ended, and OSError.
    """
    if target.exists() and not overwrites:
        raise TeamArchiveError(f"{target} is there already: name another file, or say --overwrite")
    if count := Run.objects.unfinished().filter(team=team).count():
        text = f"{count} of its runs {'has' if count == 1 else 'have'} not ended: cancel or wait"
        raise TeamArchiveError(text)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as name:
        folder = Path(name)
        with _one_moment():
            manifest = _Export(team, folder).write()
        staged = folder / "archive"
        sources = {name: folder / name for name in FILES}
        write_archive(staged, manifest.write(), sources, packs=is_packed(target))
        staged.replace(target)
    AuditEntry.objects.record(None, None, "team.exported", team)
    return manifest


@contextmanager
def _one_moment() -> Iterator[None]:
    """Everything that is read is of the same moment; nobody waits for it."""
    how = "DEFERRED" if connection.vendor == "sqlite" else "ISOLATION LEVEL REPEATABLE READ"
    if connection.in_atomic_block:  # a test's; its writes are its own
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute(f"BEGIN {how}")
        try:
            yield
        finally:
            cursor.execute("ROLLBACK")


class _Export:
    """The files of one team's archive, written into a folder."""

    def __init__(self, team: Team, folder: Path) -> None:
        self._team = team
        self._folder = folder
        self._numbers: dict[Model, Numbers | People] = {}

    def write(self) -> TeamManifest:
        for table in TABLES:
            if table.model in REFERRED_TO:
                self._numbers[table.model] = Numbers(self._ids(table))
        self._numbers[User] = self._write_people()
        counts = {table.name: 0 for table in TABLES}
        for table in TABLES:
            with self._file(file_of(table.name)) as file:
                for number, row in enumerate(self._rows(table), start=1):
                    file.write(orjson.dumps(row) + b"\n")
                    counts[table.name] = number
        before, end = self._write_audit()
        migrations = MigrationRecorder.Migration.objects.filter(app="scoring")
        return TeamManifest(
            team=self._team.name,
            slug=self._team.slug,
            made_at=timezone.now().isoformat(),
            migration=max(migrations.values_list("name", flat=True)),
            columns={table.name: [column.name for column in table.columns] for table in TABLES},
            counts=counts,
            files={path.name: describe(path) for path in sorted(self._folder.iterdir())},
            audit_before=before,
            audit_end=end,
        )

    @contextmanager
    def _file(self, name: str) -> Iterator[IO[bytes]]:
        with open_private(self._folder / name, "wb") as file:
            yield file

    def _ids(self, table: Table) -> Iterator[int]:
        """The ids of the archived rows: all whose parents are archived."""
        parents = [
            column
            for column in table.columns
            if not column.null and column.related_model in self._numbers
        ]
        names = [column.attname for column in parents]
        numbers = [self._numbers[cast("Model", column.related_model)] for column in parents]
        for row_id, *ids in table.rows(self._team).values_list("pk", *names).iterator(CHUNK):
            if all(known.number_of(i) is not None for known, i in zip(numbers, ids, strict=True)):
                yield row_id

    def _write_people(self) -> People:
        """Everybody whom an archived row names, by their addresses."""
        found: set[int | None] = set()
        for table in TABLES:
            rows = table.rows(self._team).order_by()
            for column in table.columns:
                if column.related_model is User:
                    found.update(rows.values_list(column.attname, flat=True).distinct())
        entries = AuditEntry.objects.of(self._team).exclude(actor_id="").order_by()
        found.update(int(pk) for pk in entries.values_list("actor_id", flat=True).distinct())
        everybody = User.objects.order_by("email").values_list("pk", *PERSON)
        people = [row for row in everybody if row[0] in found]
        with self._file(PEOPLE) as file:
            for _, *person in people:
                file.write(orjson.dumps(person) + b"\n")
        return People(user_id for user_id, *_ in people)

    def _rows(self, table: Table) -> Iterator[list[Any]]:
        converters = [self._converter(column) for column in table.columns]
        required = [
            place
            for place, column in enumerate(table.columns)
            if not column.null and (column.is_relation or column.name in RANGE)
        ]
        names = [column.attname for column in table.columns]
        extra = ["attempt__kind"] if table.model is Shard else []
        for values in table.rows(self._team).values_list(*names, *extra).iterator(CHUNK):
            row = [
                convert(value) if convert and value is not None else value
                for convert, value in zip(converters, values, strict=False)
            ]
            if table.model is Shard:
                self._number_range(row, names, values[-1])
            if all(row[place] is not None for place in required):  # its parents are archived
                yield row

    def _converter(self, column: models.Field[Any, Any]) -> Convert | None:
        if column.related_model is not None:
            return self._numbers[column.related_model].number_of
        if isinstance(column, models.BinaryField):
            return lambda value: base64.b64encode(value).decode()
        if (column.model, column.name) == (Score, "metadata_json"):
            return lambda text: map_refs(text, self._ref)
        return None

    def _ref(self, ref: str) -> str | None:
        number = self._numbers[ModelCall].number_of(int(ref)) if ref.isdecimal() else None
        return None if number is None else str(number)

    def _number_range(self, row: list[Any], names: list[str], kind: str) -> None:
        numbers = self._numbers[shard_model(kind)]
        for name in RANGE:
            place = names.index(name)
            row[place] = numbers.number_of(row[place])

    def _write_audit(self) -> tuple[tuple[int, str], tuple[int, str]]:
        """Number and hash of the entry before the first, and of the last."""
        before, end = (0, ""), (0, "")
        with self._file(AUDIT) as file:
            for entry in AuditEntry.objects.of(self._team).order_by("number").iterator(CHUNK):
                if not end[0] and entry.number > 1:
                    before = entry.number - 1, self._checkpoint_hash(entry.number - 1)
                end = entry.number, entry.hash
                file.write(orjson.dumps(self._entry(entry)) + b"\n")
        return before, end

    def _checkpoint_hash(self, number: int) -> str:
        checkpoints = AuditCheckpoint.objects.filter(team_id=str(self._team.uuid), number=number)
        return checkpoints.values_list("hash", flat=True).first() or ""

    def _entry(self, entry: AuditEntry) -> list[Any]:
        actor = self._numbers[User].number_of(int(entry.actor_id)) if entry.actor_id else None
        values = {"actor": actor, "target_id": self._target(entry)}
        return [values[name] if name in values else getattr(entry, name) for name in ENTRY]

    def _target(self, entry: AuditEntry) -> str:
        """A UUID as it is; an id as its number."""
        if not entry.target_id.isdecimal():
            return entry.target_id
        model = BY_TARGET_TYPE.get(entry.target_type)
        number = self._numbers[model].number_of(int(entry.target_id)) if model else None
        return "" if number is None else str(number)


_MODELS: Final[list[Model]] = [User, *(table.model for table in TABLES)]
#: What audit entries name by ids: rows without a UUID.
BY_TARGET_TYPE: Final[Mapping[str, Model]] = {
    str(model._meta.verbose_name): model for model in _MODELS if not hasattr(model, "uuid")
}


def _referred_to() -> frozenset[Model]:
    """The models whose rows others refer to, or audit entries by their ids."""
    columns = (column for table in TABLES for column in table.columns)
    targets = {column.related_model for column in columns}
    return frozenset(
        table.model
        for table in TABLES
        if table.model in targets or str(table.model._meta.verbose_name) in BY_TARGET_TYPE
    ) - {Score}


REFERRED_TO: Final = _referred_to()


#: In the order of an import: whoever is named comes first.
FILES: Final = (PEOPLE, *(file_of(table.name) for table in TABLES), AUDIT)
