"""What `manage.py check` tells an administrator."""

from __future__ import annotations

import pytest
from pytest_django.fixtures import Settings

from scoring import checks
from scoring.core import custom


def test_all_is_well_without_custom_scorers() -> None:
    assert checks.installed_scorers_load() == []


def test_a_package_whose_scorer_does_not_load_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "tone (acme.tone:score): ModuleNotFoundError: No module named 'acme'"
    monkeypatch.setattr(custom, "load_installed", lambda: (text,))
    (warning,) = checks.installed_scorers_load()
    assert (warning.id, warning.msg) == ("evalsite.W001", text)
    assert "uninstall" in str(warning.hint)


@pytest.mark.parametrize("name", ["EVALSITE_MODEL_HOSTS", "EVALSITE_WEBHOOK_HOSTS"])
def test_a_misspelt_host_is_named(settings: Settings, name: str) -> None:
    setattr(settings, name, frozenset({"localhost:11434", "10.0.0.0/8", "[::1]:80"}))
    assert checks.listed_hosts_are_hosts() == []
    setattr(settings, name, frozenset({"localhost", "http://localhost:11434"}))
    (error,) = checks.listed_hosts_are_hosts()
    assert (error.id, error.is_serious()) == ("evalsite.E001", True)
    assert error.msg.startswith(f"{name}: 'http://localhost:11434'")


@pytest.mark.parametrize(
    ("header", "proxies", "ids"),
    [
        (None, 0, []),
        (None, 1, []),
        (("HTTP_X_FORWARDED_PROTO", "https"), 1, []),
        (("HTTP_X_FORWARDED_PROTO", "https"), 0, ["evalsite.W002"]),
    ],
)
def test_a_proxy_that_is_not_counted_is_named(
    settings: Settings, header: tuple[str, str] | None, proxies: int, ids: list[str]
) -> None:
    settings.SECURE_PROXY_SSL_HEADER = header
    settings.EVALSITE_TRUSTED_PROXIES = proxies
    assert [message.id for message in checks.proxies_are_counted()] == ids


def test_a_check_without_a_database_asks_none() -> None:
    assert checks.audit_triggers_exist(databases=None) == []
