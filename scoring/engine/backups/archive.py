"""How a backup file is laid out: a tar, plain or gzipped; a manifest, the files, its hash."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any, Final, NamedTuple, cast

from scoring.core.private_files import open_private
from scoring.engine.backups.integrity import DATABASE

FORMAT: Final = "evalsite-backup"
FORMAT_VERSION: Final = 1
MANIFEST: Final = "manifest.json"
END: Final = "manifest.sha256"  # the last member: the manifest's own hash
KEYS: Final = ("secret_key", "encryption_key")
MEMBERS: Final = (*KEYS, DATABASE)
MANIFEST_BYTES: Final = 1024**2
ALTERED: Final = "it was altered, or is not whole: its content is not what it was when it was made"
CHUNK_BYTES: Final = 1024**2


class BackupError(Exception):
    """A backup that cannot be made or restored; the text says why, and what to do."""


@dataclass(frozen=True)
class SealedManifest:
    """What an archive holds, in its first member; the last one is its seal."""

    def write(self) -> bytes:
        return json.dumps(asdict(self), indent=2).encode()

    def seal(self) -> bytes:
        """By which changes and truncation are noticed."""
        return seal_of(self.write())


@dataclass(frozen=True)
class Manifest(SealedManifest):
    """What a backup holds: `files` are {name: {"size", "sha256"}}.

    `migrations` are those of the app `scoring` that its database has; `keys_elsewhere` names the
    keys that came from the environment and so are not in the file.
    """

    made_at: str
    migrations: list[str]
    files: dict[str, dict[str, Any]]
    keys_elsewhere: list[str] = field(default_factory=list)
    format: str = FORMAT
    format_version: int = FORMAT_VERSION


class Member(NamedTuple):
    """One file of a backup; `size` in bytes is what its header says."""

    name: str
    size: int
    content: IO[bytes]


def read_manifest(content: bytes) -> Manifest:
    """The manifest as it was written. Raises BackupError."""
    try:
        fields = json.loads(content)
        if not isinstance(fields, dict) or fields.get("format") != FORMAT:
            raise ValueError
        if fields.get("format_version") != FORMAT_VERSION:
            text = "it was made by another version of Evalsite: restore it with that version"
            raise BackupError(text)
        manifest = Manifest(**fields)
        if DATABASE not in manifest.files or not set(manifest.files) <= set(MEMBERS):
            raise ValueError
        for described in manifest.files.values():
            int(described["size"]), str(described["sha256"])
    except (ValueError, TypeError, KeyError):
        raise BackupError("it is not a backup of Evalsite, or it was altered") from None
    return manifest


def describe(path: Path) -> dict[str, Any]:
    """The size and hash of a file, as the manifest holds them."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"size": path.stat().st_size, "sha256": digest}


def seal_of(manifest: bytes) -> bytes:
    """The content of an archive's last member, by which changes and truncation are noticed."""
    return hashlib.sha256(manifest).hexdigest().encode()


def write_archive(
    staged: Path, manifest: bytes, sources: Mapping[str, Path], *, packs: bool
) -> None:
    """Write manifest, files and seal into a private file, and have the disk keep it."""
    with open_private(staged, "wb") as file, ExitStack() as streams:
        stream: IO[bytes] = file
        if packs:
            packed = gzip.GzipFile("", "wb", 6, file, mtime=0)
            stream = cast("IO[bytes]", streams.enter_context(packed))
        with tarfile.open(fileobj=stream, mode="w|") as archive:
            add_member(archive, MANIFEST, len(manifest), io.BytesIO(manifest))
            for name, path in sources.items():
                with path.open("rb") as part:
                    add_member(archive, name, path.stat().st_size, part)
            seal = seal_of(manifest)
            add_member(archive, END, len(seal), io.BytesIO(seal))
        streams.close()
        file.flush()
        os.fsync(file.fileno())


def is_packed(target: Path) -> bool:
    """Whether a file of this name is a packed one."""
    return target.suffix in {".gz", ".tgz"}


def add_member(archive: tarfile.TarFile, name: str, size: int, content: IO[bytes]) -> None:
    """Without owner, time or rights: the archive does not decide those of the restored file."""
    member = tarfile.TarInfo(name)
    member.size, member.mode = size, 0o600
    archive.addfile(member, content)


@contextmanager
def open_members(path: Path) -> Iterator[Iterator[Member]]:
    """The members of a backup one after the other, each to be read before the next.

    Raises BackupError for what is no archive, or not a whole one.
    """
    try:
        with path.open("rb") as file:
            is_gzip = file.read(2) == b"\x1f\x8b"
            file.seek(0)
            if is_gzip:
                with gzip.open(file) as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
                    yield _members(archive)
                    while stream.read(CHUNK_BYTES):  # to its end, where its checksum is
                        pass
                return
            if path.stat().st_size % tarfile.RECORDSIZE:
                raise BackupError("it is no archive of Evalsite, or not whole: it was cut off")
            with tarfile.open(fileobj=file, mode="r|") as archive:
                yield _members(archive)
    except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile) as fault:
        raise BackupError(f"it is no archive of Evalsite, or not whole ({fault})") from None


def _members(archive: tarfile.TarFile) -> Iterator[Member]:
    for member in archive:
        content = archive.extractfile(member) if member.isreg() else None
        if content is None:
            raise BackupError("it is no archive of Evalsite, or it was altered")
        yield Member(member.name, member.size, content)
