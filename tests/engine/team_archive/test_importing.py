"""An archive becomes a team of another site: equal there, or not at all."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from scoring.engine.backups.archive import MANIFEST, add_member
from scoring.engine.retention.removal import remove_entries
from scoring.engine.team_archive import TeamArchiveError, export_team, import_team
from scoring.engine.team_archive.layout import TeamManifest, read_manifest
from scoring.models import (
    AuditEntry,
    Connection,
    Dataset,
    Member,
    ModelCall,
    RetentionPolicy,
    Role,
    Run,
    Score,
    Shard,
    Team,
    Token,
    User,
)
from tests.engine.team_archive.conftest import MoveOut, lines_of, rows_of

pytestmark = pytest.mark.django_db(transaction=True)


def tables() -> dict[str, int]:
    """How many rows each table has."""
    names = connection.introspection.table_names()
    with connection.cursor() as cursor:
        counts = {}
        for name in names:
            cursor.execute(f'SELECT count(*) FROM "{name}"')
            counts[name] = cursor.fetchone()[0]
    return counts


def test_a_team_is_equal_afterwards(archive: Path, move_out: MoveOut, tmp_path: Path) -> None:
    move_out()
    team = import_team(archive)
    connection.check_constraints()
    again = tmp_path / "again.tar"
    export_team(team, again)
    assert rows_of(again) == rows_of(archive)
    assert (team.name, team.slug) == ("Support", "support-2")
    assert Team.objects.count() == 2


def test_links_stay_and_other_teams_are_untouched(
    archive: Path, furnished: Team, move_out: MoveOut
) -> None:
    run, dataset = Run.objects.get(name="scored"), Dataset.objects.get(name="scored")
    move_out()
    other = Team.objects.get(slug="support")
    before = list(other.connections.values()), list(other.members.values())
    import_team(archive)
    assert Run.objects.get(uuid=run.uuid).output_set.version.dataset.uuid == dataset.uuid
    assert before == (list(other.connections.values()), list(other.members.values()))


def test_rows_that_are_named_by_ids_are_found_again(archive: Path, move_out: MoveOut) -> None:
    move_out()
    import_team(archive)
    run = Run.objects.get(name="scored")
    call = ModelCall.objects.get(run=run)
    (score,) = Score.objects.filter(scorer__run=run)
    assert score.metadata["refs"] == [str(call.pk)]
    assert score.metadata["children"][0]["metadata"]["refs"] == [str(call.pk)]
    (shard,) = Shard.objects.filter(attempt__run=run)
    output = run.output_set.outputs.get()
    assert shard.first_output == shard.last_output == output.pk == score.output_id
    assert output.search_text is None or "no" in output.search_text


def test_people_are_known_by_their_addresses(
    archive: Path, furnished: Team, move_out: MoveOut
) -> None:
    move_out()
    alice = User.objects.create_user("alice@example.org", "a password of this site")
    team = import_team(archive)
    assert Member.objects.get(team=team, user=alice).role == Role.ADMIN
    bob = User.objects.get(email="bob@example.org")
    assert not bob.has_usable_password()
    created = AuditEntry.objects.of(None).filter(action="user.created")
    assert bob.email in {entry.new["email"] for entry in created}
    assert alice.email not in {entry.new.get("email") for entry in created}
    service = User.objects.get(is_service=True)
    assert not service.is_active


def test_a_program_is_no_person(archive: Path, furnished: Team, move_out: MoveOut) -> None:
    email = User.objects.get(is_service=True).email
    move_out()
    User.objects.create_user(email)
    with pytest.raises(TeamArchiveError, match="a program on the other"):
        import_team(archive)


def test_secrets_are_to_be_set_anew(archive: Path, move_out: MoveOut) -> None:
    move_out()
    team = import_team(archive)
    own = Connection.objects.get(team=team)
    assert (own.encrypted_key, own.last_four) == ("", "")
    assert not Token.objects.filter(team=team).exists()


def test_retention_rules_wait_a_day(archive: Path, move_out: MoveOut) -> None:
    move_out()
    import_team(archive)
    policy = RetentionPolicy.objects.get()
    assert policy.runs_days == 400
    assert policy.due_at
    assert policy.due_at > timezone.now()


def test_the_log_is_a_sound_chain_of_this_site(archive: Path, move_out: MoveOut) -> None:
    move_out()
    team = import_team(archive)
    call_command("verify_audit", stdout=(out := io.StringIO()))
    assert "The audit log is sound" in out.getvalue()
    entries = AuditEntry.objects.of(team)
    changed = entries.get(action="retention.changed")
    assert changed.actor == User.objects.get(email="alice@example.org")
    assert changed.target_id == str(RetentionPolicy.objects.get().pk)
    told = AuditEntry.objects.of(None).get(action="team.imported")
    assert told.new["audit_end"][0] == entries.count()
    AuditEntry.objects.record(team, None, "team.renamed", team)
    call_command("verify_audit", stdout=out)


def test_a_log_whose_beginning_was_removed_goes_on(
    furnished: Team, move_out: MoveOut, tmp_path: Path
) -> None:
    latest = AuditEntry.objects.of(furnished).first()
    assert latest
    remove_entries(furnished, latest.at)
    archive = tmp_path / "team.tar"
    export_team(furnished, archive)
    move_out()
    team = import_team(archive)
    call_command("verify_audit", stdout=io.StringIO())
    export_team(team, tmp_path / "again.tar")
    assert rows_of(tmp_path / "again.tar") == rows_of(archive)


def test_a_team_is_imported_once(archive: Path, move_out: MoveOut) -> None:
    move_out()
    import_team(archive)
    before = tables()
    with pytest.raises(TeamArchiveError, match="on this site already"):
        import_team(archive)
    assert tables() == before


# Archives that somebody has changed

Change = Callable[[dict[str, bytes]], object]


def rebuilt(
    archive: Path,
    change: Change,
    *,
    is_sealed: bool = True,
    missing: str = "",
    slug: str | None = None,
) -> Path:
    """The archive with other rows, or another slug, as if it had been made with them.

    It says one row more of the table `missing` than there is.
    """
    files = rows_of(archive)
    change(files)
    with tarfile.open(archive) as opened:
        manifest = read_manifest(opened.extractfile(MANIFEST).read())  # type: ignore[union-attr]
        names = [name for name in opened.getnames() if name in files]
    if is_sealed:
        described = {name: _described(content) for name, content in files.items()}
        fields = {**manifest.__dict__, "files": described}
        fields |= {} if slug is None else {"slug": slug}
        counts = {
            name: len(files[f"{name}.jsonl"].splitlines()) + (name == missing)
            for name in manifest.counts
        }
        manifest = TeamManifest(**{**fields, "counts": counts})
    target = archive.with_name("changed.tar")
    with tarfile.open(target, "w") as made:
        members = {MANIFEST: manifest.write(), **{name: files[name] for name in names}}
        for name, content in {**members, "manifest.sha256": manifest.seal()}.items():
            add_member(made, name, len(content), io.BytesIO(content))
    return target


def _described(content: bytes) -> dict[str, Any]:
    import hashlib

    return {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def altered(table: str, column: str, value: object, archive: Path) -> Change:
    """Sets a column of the first row of a table."""
    with tarfile.open(archive) as opened:
        manifest = read_manifest(opened.extractfile(MANIFEST).read())  # type: ignore[union-attr]
    place = manifest.columns[table].index(column)

    def change(files: dict[str, bytes]) -> None:
        first, *rest = lines_of(archive, table)
        first[place] = value
        lines = [json.dumps(row) for row in (first, *rest)]
        files[f"{table}.jsonl"] = "".join(f"{line}\n" for line in lines).encode()

    return change


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("member", "team", -1),
        ("member", "team", 1),
        ("member", "team", None),
        ("member", "team", "0"),
        ("member", "team", True),
        ("member", "user", -1),
        ("member", "user", 10_000),
        ("output", "case", 10_000),
        ("output", "text", {"a": 1}),
        ("shard", "first_output", -5),
        ("score", "metadata_json", '{"refs": ["-1"]}'),
        ("score", "score", 7.5),
        ("score", "score", "0.5"),
        ("run", "created_at", "yesterday"),
        ("run", "uuid", "not one"),
        ("dataset", "name", 5),
        ("member", "role", 2**70),
    ],
)
def test_an_odd_value_imports_nothing(
    archive: Path, move_out: MoveOut, table: str, column: str, value: object
) -> None:
    changed = rebuilt(archive, altered(table, column, value, archive))
    move_out()
    before = tables()
    with pytest.raises(TeamArchiveError):
        import_team(changed)
    assert tables() == before


def test_an_archive_that_was_rebuilt_unchanged_is_imported(
    archive: Path, move_out: MoveOut
) -> None:
    changed = rebuilt(archive, lambda files: None)
    move_out()
    import_team(changed)


@pytest.mark.parametrize(
    ("slug", "shown"), [("helpdesk", "helpdesk"), ("../../x", "support-2"), ("", "support-2")]
)
def test_the_name_in_addresses_stays_where_it_is_free_and_one(
    archive: Path, move_out: MoveOut, slug: str, shown: str
) -> None:
    changed = rebuilt(archive, lambda files: None, slug=slug)
    move_out()
    assert import_team(changed).slug == shown


def test_what_was_altered_or_cut_imports_nothing(
    archive: Path, move_out: MoveOut, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    def swap(files: dict[str, bytes]) -> None:
        files["case.jsonl"] = files["case.jsonl"].replace(b"yes", b"no!")

    whole = archive.read_bytes()
    broken = tmp_path / "broken.tar"
    broken.write_bytes(whole[: len(whole) // 2])
    cut = tmp_path / "cut.tar"
    cut.write_bytes(whole[: 10240 * (len(whole) // 20480)])
    text = tmp_path / "text.tar"
    text.write_text("no archive at all")
    swapped = rebuilt(archive, swap, is_sealed=False).rename(tmp_path / "swapped.tar")
    short = rebuilt(archive, lambda files: None, missing="case")
    move_out()
    before = tables()
    for path in (broken, cut, text, swapped, short):
        with subtests.test(path=path.name):
            with pytest.raises(TeamArchiveError):
                import_team(path)
            assert tables() == before


def test_another_version_is_named(archive: Path, move_out: MoveOut, tmp_path: Path) -> None:
    with tarfile.open(archive) as opened:
        fields = json.loads(opened.extractfile(MANIFEST).read())  # type: ignore[union-attr]
    content = json.dumps({**fields, "migration": "0001_schema"}).encode()
    target = tmp_path / "other.tar"
    with tarfile.open(target, "w") as made:
        add_member(made, MANIFEST, len(content), io.BytesIO(content))
    move_out()
    with pytest.raises(TeamArchiveError, match="another version"):
        import_team(target)
