"""The files for containers name what exists, and what they copy is a site."""

from __future__ import annotations

import re
import shutil
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final
from urllib.request import urlopen

import pytest
import yaml
from django.core.management import get_commands, load_command_class

from tests.support.fixtures.sites import Site, fresh_site, port
from tests.support.paths import ROOT
from tests.support.waiting import DEADLINE_SECONDS, wait_until

__all__ = ["fresh_site", "port"]

DOCKERFILE = (ROOT / "Dockerfile").read_text()
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())
MANIFESTS: list[Any] = list(yaml.safe_load_all((ROOT / "docs" / "kubernetes.yaml").read_text()))
#: Read by libraries, not by evalsite/env.py.
OF_LIBRARIES: Final = {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_DEFAULT_REGION"}

NOT_COPIED: Final = shutil.ignore_patterns("__pycache__")


def containers() -> Iterator[dict[str, Any]]:
    for manifest in MANIFESTS:
        if manifest["kind"] == "Deployment":
            yield from manifest["spec"]["template"]["spec"]["containers"]


def commands() -> list[list[str]]:
    """What every container is told to do."""
    image = re.findall(r"^CMD (\[.*\])", DOCKERFILE, re.MULTILINE)
    services = COMPOSE["services"].values()
    return [
        *(yaml.safe_load(line) for line in image),
        *(service["command"] for service in services if "command" in service),
        *(container["args"] for container in containers()),
    ]


def variables() -> set[str]:
    """Every variable that the site's own containers are given."""
    names = set(COMPOSE["x-site"]["environment"])
    names |= set(re.findall(r"^ENV (\w+)=", DOCKERFILE, re.MULTILINE)) - {"PIP_NO_CACHE_DIR"}
    for manifest in MANIFESTS:
        names |= set(manifest.get("data", {})) | set(manifest.get("stringData", {}))
    for container in containers():
        names |= {each["name"] for each in container.get("env", ())}
    return names


@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_a_command_is_one_of_the_site(command: list[str]) -> None:
    name, *options = command
    parser = load_command_class(get_commands()[name], name).create_parser("manage.py", name)
    parser.parse_args(options)  # ends the test for an option that is none


def test_there_are_commands_of_each_file() -> None:
    assert len(commands()) == 5


def test_variables_are_those_of_the_guide() -> None:
    guide = (ROOT / "docs" / "environment.md").read_text()
    known = set(re.findall(r"^\| `(\w+)` \|", guide, re.MULTILINE))
    assert variables() - OF_LIBRARIES <= known
    assert {"DATABASE_URL", "EVALSITE_SECRET_KEY", "EVALSITE_UPLOADS"} <= variables()


def test_compose_asks_for_every_secret() -> None:
    """Rather than starting with one that is empty."""
    environment = COMPOSE["x-site"]["environment"]
    for name in ("EVALSITE_SECRET_KEY", "EVALSITE_ENCRYPTION_KEY"):
        assert environment[name] == f"${{{name}:?}}"
    texts = [environment["DATABASE_URL"], environment["CELERY_BROKER_URL"]]
    assert all(":?}@" in text for text in texts)


def test_compose_hands_over_what_else_is_set() -> None:
    """Else a model's key or the mail's host, set beside the secrets, would reach no container."""
    for name in ("web", "worker"):
        assert COMPOSE["services"][name]["env_file"] == [".env"]


def test_volumes_and_services_of_compose_exist() -> None:
    services = COMPOSE["services"]
    for service in services.values():
        for volume in service.get("volumes", ()):
            assert volume.partition(":")[0] in COMPOSE["volumes"]
        assert set(service.get("depends_on", {})) <= set(services)


def test_containers_write_nowhere_but_to_their_volumes() -> None:
    assert COMPOSE["x-site"]["read_only"] is True
    for name in ("web", "worker"):
        volumes = COMPOSE["services"][name]["volumes"]
        assert {each.partition(":")[2] for each in volumes} == {"/data", "/uploads"}
    for container in containers():
        assert container["securityContext"]["readOnlyRootFilesystem"] is True
        assert {each["mountPath"] for each in container["volumeMounts"]} == {"/data", "/tmp"}


def copied() -> list[str]:
    """What the image has of the repository."""
    lines = re.findall(r"^COPY ([^-].*) \S+$", DOCKERFILE, re.MULTILINE)
    return [name for line in lines for name in line.split()]


def test_what_is_copied_reaches_the_build() -> None:
    allowed = (ROOT / ".dockerignore").read_text().split("\n")
    for name in copied():
        assert list(ROOT.glob(name)), name
        assert f"!{name}" in allowed


@pytest.mark.long("a site starts from a copy of its files")
def test_what_is_copied_is_a_site_that_writes_to_its_data_folder_alone(
    tmp_path: Path, fresh_site: Site, port: int
) -> None:
    folder = tmp_path / "srv"
    folder.mkdir()
    for source in (path for name in copied() for path in ROOT.glob(name)):
        if source.is_dir():
            shutil.copytree(source, folder / source.name, ignore=NOT_COPIED)
        else:
            shutil.copy(source, folder)
    before = set(folder.rglob("*"))
    command = ["start", "--no-worker", "--port", str(port)]
    program = (str(folder / "manage.py"),)
    process = fresh_site.start(*command, cwd=folder, program=program, PYTHONDONTWRITEBYTECODE="1")
    wait_until(lambda: '"ready": true' in read(port, "/readyz"))
    page = read(port, "/accounts/login/")
    (style,) = re.findall(r'<link rel="stylesheet" href="([^"]+)"', page)
    assert ".page" in read(port, style)
    process.send_signal(signal.SIGTERM)
    assert process.wait(DEADLINE_SECONDS) == 0
    assert set(folder.rglob("*")) == before


def read(port: int, path: str) -> str:
    """What the site answers, or nothing."""
    with suppress(OSError), urlopen(f"http://127.0.0.1:{port}{path}") as answer:
        return str(answer.read().decode())
    return ""
