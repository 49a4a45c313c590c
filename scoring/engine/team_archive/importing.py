"""A team out of an archive, with new ids, all of it or nothing."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import IO, Any, Final, NamedTuple, cast

import orjson
from django.core.exceptions import ValidationError
from django.core.management.color import no_style
from django.db import DataError, IntegrityError, connection, models, transaction
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone
from django.utils.text import slugify

from scoring.engine.backups.archive import (
    ALTERED,
    END,
    MANIFEST,
    MANIFEST_BYTES,
    BackupError,
    Member,
    open_members,
)
from scoring.engine.retention.policies import PERIOD
from scoring.engine.runs.tag_index import store_tag_index
from scoring.engine.team.teams import MAX_SLUG, free_slug
from scoring.engine.team_archive.exporting import BY_TARGET_TYPE, FILES
from scoring.engine.team_archive.layout import (
    AUDIT,
    OTHER_VERSION,
    PEOPLE,
    TeamArchiveError,
    TeamManifest,
    file_of,
    read_manifest,
)
from scoring.engine.team_archive.references import RANGE, map_refs, shard_model
from scoring.engine.team_archive.tables import ENTRY, TABLES, Model, Table
from scoring.models import (
    Attempt,
    AuditCheckpoint,
    AuditEntry,
    DatasetVersion,
    ModelCall,
    RetentionPolicy,
    Score,
    Shard,
    Team,
    User,
)
from scoring.models.bulk import bulk_insert

CHUNK: Final = 2_000
NOT_A_TEAM: Final = "it is not the archive of a team"
#: What odd values in an archive raise on their way into rows.
ODD_VALUES: Final = (ValidationError, TypeError, ValueError, LookupError, OverflowError)

Convert = Callable[[Any], Any]


def import_team(source: Path) -> Team:
    """Make the team of the archive `source` a team of this site, with the people it names.

    Whoever has an account with one of their addresses is that person; the others get accounts
    without a password. On SQLite nobody else writes meanwhile. Raises TeamArchiveError, OSError.
    """
    try:
        with open_members(source) as members, transaction.atomic():
            team = _Import(members).read()
    except BackupError as fault:
        raise TeamArchiveError(str(fault)) from None
    except IntegrityError as fault:
        text = f"some of its rows are on this site already, or it was altered ({fault})"
        raise TeamArchiveError(text) from None
    except (*ODD_VALUES, DataError) as fault:
        raise TeamArchiveError(f"it was altered ({fault})") from None
    for version in DatasetVersion.objects.filter(dataset__team=team):
        store_tag_index(version)
    return team


class _Place(NamedTuple):
    """Where the rows of a table go: the id of the first, and how many there are."""

    first: int
    size: int

    def id_of(self, number: int) -> int:
        if type(number) is not int or not 0 <= number < self.size:
            raise ValueError(f"there is no row {number!r}")
        return self.first + number


class _Import:
    """One archive, read from its beginning to its end, within a transaction."""

    def __init__(self, members: Iterator[Member]) -> None:
        self._members = members
        self._people: list[int] = []
        self._kinds: list[str] = []  # of attempts

    def read(self) -> Team:
        self._manifest = self._read_manifest()
        self._places = self._reserve_places()
        for name, member in zip(FILES, self._members, strict=False):
            if member.name != name:
                raise TeamArchiveError(ALTERED)
            self._read_file(name, _Checked(member))
        end = next(self._members, None)
        seal = self._manifest.seal()
        if end is None or end.name != END or end.content.read(len(seal) + 1) != seal:
            raise TeamArchiveError(ALTERED)
        return self._finish()

    def _read_manifest(self) -> TeamManifest:
        member = next(self._members, None)
        if member is None or member.name != MANIFEST or member.size > MANIFEST_BYTES:
            raise TeamArchiveError(NOT_A_TEAM)
        manifest = read_manifest(member.content.read())
        migrations = MigrationRecorder.Migration.objects.filter(app="scoring")
        own = {table.name: [column.name for column in table.columns] for table in TABLES}
        is_same = manifest.migration == max(migrations.values_list("name", flat=True))
        if not is_same or manifest.columns != own:
            raise TeamArchiveError(OTHER_VERSION)
        return manifest

    def _reserve_places(self) -> dict[Model, _Place]:
        if connection.vendor == "postgresql":  # nobody else inserts until the end
            tables = ", ".join(table.model._meta.db_table for table in TABLES)
            with connection.cursor() as cursor:
                cursor.execute(f"LOCK TABLE {tables} IN EXCLUSIVE MODE")
        counts = self._manifest.counts
        return {table.model: _Place(_next_id(table.model), counts[table.name]) for table in TABLES}

    def _read_file(self, name: str, checked: _Checked) -> None:
        if name == PEOPLE:
            self._people = [self._person(*row) for row in checked.rows()]
        elif name == AUDIT:
            self._read_audit(checked.rows())
        else:
            (table,) = (table for table in TABLES if file_of(table.name) == name)
            self._insert(table, checked.rows())
        described = self._manifest.files[name]
        if checked.digest != described["sha256"]:
            raise TeamArchiveError(ALTERED)

    def _person(self, email: str, name: str, is_active: bool, is_service: bool) -> int:
        found = User.objects.filter(email=email).first()
        if found is None:
            found = User.objects.create_user(
                email, name=name, is_active=is_active, is_service=is_service
            )
            found.full_clean(exclude=["password"])
            new = {"email": found.email}
            AuditEntry.objects.record(None, None, "user.created", found, new=new)
        elif found.is_service != is_service:
            raise TeamArchiveError(f"{email} is a person on one site and a program on the other")
        return found.pk

    def _insert(self, table: Table, rows: Iterator[list[Any]]) -> None:
        place = self._places[table.model]
        converters = [self._converter(column) for column in table.columns]
        defaults = self._defaults(table)
        names = ["id", *(str(column.column) for column in table.columns), *defaults]
        left_out = tuple(defaults.values())
        number = 0
        while chunk := list(islice(rows, CHUNK)):
            made = []
            for row in chunk:
                if len(row) != len(converters):
                    raise TeamArchiveError(ALTERED)
                if table.model is Shard:
                    self._place_range(table, row)
                values = (
                    None if value is None else convert(value)
                    for convert, value in zip(converters, row, strict=True)
                )
                made.append((place.id_of(number), *values, *left_out))
                number += 1
                if table.model is Attempt:
                    self._kinds.append(row[_place_of(table, "kind")])
            bulk_insert(table.model, names, made)
        if number != place.size:
            raise TeamArchiveError(ALTERED)

    def _defaults(self, table: Table) -> dict[str, Any]:
        """The database values of the columns that are not archived."""
        columns = [table.model._meta.get_field(name) for name in sorted(table.left_out)]
        values = {
            str(column.column): column.get_db_prep_save(column.get_default(), connection)
            for column in cast("list[models.Field[Any, Any]]", columns)
        }
        return values | ({"slug": self._slug()} if table.model is Team else {})

    def _slug(self) -> str:
        """That of the other site, so that links stay, unless another team has it here."""
        slug = self._manifest.slug
        is_free = not Team.objects.filter(slug=slug).exists()
        is_slug = slug == slugify(slug)[:MAX_SLUG] != ""
        return slug if is_free and is_slug else free_slug(self._manifest.team)

    def _converter(self, column: models.Field[Any, Any]) -> Convert:
        target = column.related_model
        if target is User:
            return self._user
        if target is not None:
            return self._places[target].id_of
        if (column.model, column.name) == (Score, "metadata_json"):
            return lambda text: map_refs(_text(text), self._ref)
        return _value_converter(column)

    def _user(self, number: int) -> int:
        if type(number) is not int or number < 0:
            raise ValueError(f"there is no person {number!r}")
        return self._people[number]

    def _ref(self, ref: str) -> str | None:
        return str(self._places[ModelCall].id_of(int(ref)))

    def _place_range(self, table: Table, row: list[Any]) -> None:
        kind = self._kinds[row[_place_of(table, "attempt")]]
        for name in RANGE:
            at = _place_of(table, name)
            row[at] = self._places[shard_model(kind)].id_of(row[at])

    def _read_audit(self, rows: Iterator[list[Any]]) -> None:
        """The entries in a chain of this site: they name people and rows by its ids."""
        team_id = str(self._team().uuid)
        number, previous = self._manifest.audit_before
        if number:
            before = AuditEntry(team_id=team_id, number=number, hash=previous, pk=0)
            AuditCheckpoint.objects.sign(before)
        made = []
        for row in rows:
            entry = self._entry(dict(zip(ENTRY, row, strict=True)), team_id)
            number += 1
            if entry.number != number:
                raise TeamArchiveError(ALTERED)
            previous = entry.hash = entry.hash_after(previous)
            made.append(entry)
        AuditEntry.objects.bulk_create(made, batch_size=CHUNK)

    def _entry(self, values: dict[str, Any], team_id: str) -> AuditEntry:
        actor, target = values.pop("actor"), values.pop("target_id")
        if target.isdecimal():
            model = BY_TARGET_TYPE[values["target_type"]]
            is_person = model is User
            row = self._user(int(target)) if is_person else self._places[model].id_of(int(target))
            target = str(row)
        entry = AuditEntry(
            team_id=team_id,
            actor_id="" if actor is None else str(self._user(actor)),
            target_id=target,
            **values,
        )
        if not (isinstance(entry.old, dict) and isinstance(entry.new, dict)):
            raise TeamArchiveError(ALTERED)
        empty = [
            name for name in ("target_id", "old", "new", "address") if not getattr(entry, name)
        ]
        entry.clean_fields(exclude=["hash", *empty])
        return entry

    def _team(self) -> Team:
        return Team.objects.get(pk=self._places[Team].id_of(0))

    def _finish(self) -> Team:
        team = self._team()
        policy = RetentionPolicy.objects.filter(team=team).first()
        if policy and any(policy.days.values()):
            policy.due_at = timezone.now() + PERIOD
            policy.save(update_fields=["due_at"])
        resets = connection.ops.sequence_reset_sql(no_style(), [table.model for table in TABLES])
        with connection.cursor() as cursor:
            for statement in resets:
                cursor.execute(statement)
        new = {"made_at": self._manifest.made_at, "audit_end": self._manifest.audit_end}
        AuditEntry.objects.record(None, None, "team.imported", team, new=new)
        return team


class _Checked:
    """A file of rows with the hash of what was read."""

    def __init__(self, member: Member) -> None:
        self._content: IO[bytes] = member.content
        self._hash = hashlib.sha256()

    def rows(self) -> Iterator[list[Any]]:
        for line in self._content:
            self._hash.update(line)
            row = orjson.loads(line)
            if not isinstance(row, list):
                raise TeamArchiveError(ALTERED)
            yield row

    @property
    def digest(self) -> str:
        return self._hash.hexdigest()


def _next_id(model: Model) -> int:
    """The first id that no row has or ever had."""
    table = model._meta.db_table
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT max(seq) FROM sqlite_sequence WHERE name = %s", [table])
        else:
            cursor.execute("SELECT nextval(pg_get_serial_sequence(%s, 'id'))", [table])
        return int(cursor.fetchone()[0] or 0) + 1


def _place_of(table: Table, name: str) -> int:
    return [column.name for column in table.columns].index(name)


def _value_converter(column: models.Field[Any, Any]) -> Convert:
    """To the database's value of a column; what has another type is refused."""
    if isinstance(column, models.BooleanField):
        return _typed(bool)
    if isinstance(column, models.IntegerField):
        return _typed(int)
    if isinstance(column, models.FloatField):
        return _typed(float, int)
    if isinstance(column, models.BinaryField):
        return lambda value: column.get_db_prep_save(base64.b64decode(value), connection)
    if isinstance(column, models.CharField | models.TextField):
        return _text
    return lambda value: column.get_db_prep_save(column.to_python(value), connection)


def _typed(*types: type) -> Convert:
    def convert(value: Any) -> Any:
        if type(value) not in types:
            raise TypeError(f"{value!r} is of another type")
        return value

    return convert


_text = _typed(str)
