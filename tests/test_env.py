"""What environment variables may say, and what the settings make of those of mail."""

from __future__ import annotations

import subprocess
import sys
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import connection

from evalsite import env
from scoring.models import Team
from tests.support.paths import ROOT


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("", ""),
        ("https://evals.example.org", "https://evals.example.org"),
        ("https://evals.example.org/", "https://evals.example.org"),
        (" http://127.0.0.1:8000/ ", "http://127.0.0.1:8000"),
    ],
)
def test_the_sites_own_address_has_no_slash_at_its_end(
    monkeypatch: pytest.MonkeyPatch, text: str, url: str
) -> None:
    monkeypatch.setenv("EVALSITE_URL", text)
    assert env.read_url("EVALSITE_URL") == url


@pytest.mark.parametrize(
    "text", ["evals.example.org", "ftp://x", "https://a b", "javascript:x", "https://a.org/evals/"]
)
def test_what_is_no_address_is_named(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("EVALSITE_URL", text)
    with pytest.raises(ImproperlyConfigured, match="EVALSITE_URL"):
        env.read_url("EVALSITE_URL")


@pytest.mark.parametrize(
    ("text", "proxies"),
    [
        ("0", 0),
        (" 2 ", 2),
        ("", ()),
        ("10.0.0.5", (ip_network("10.0.0.5"),)),
        ("172.18.0.0/16, fd00::/8", (ip_network("172.18.0.0/16"), ip_network("fd00::/8"))),
    ],
)
def test_proxies_are_a_number_or_their_addresses(
    monkeypatch: pytest.MonkeyPatch, text: str, proxies: env.Proxies
) -> None:
    monkeypatch.setenv("EVALSITE_TRUSTED_PROXIES", text)
    assert env.read_proxies("EVALSITE_TRUSTED_PROXIES") == proxies


@pytest.mark.parametrize("text", ["-1", "proxy", "10.0.0.5/8", "10.0.0.5;10.0.0.6", "1.5"])
def test_what_names_no_proxies_is_said(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("EVALSITE_TRUSTED_PROXIES", text)
    with pytest.raises(ImproperlyConfigured, match="or their addresses"):
        env.read_proxies("EVALSITE_TRUSTED_PROXIES")


def test_one_of_a_few_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EVALSITE_MAIL_SECURITY", raising=False)
    assert env.read_choice("EVALSITE_MAIL_SECURITY", "starttls", "tls") == "starttls"
    monkeypatch.setenv("EVALSITE_MAIL_SECURITY", " TLS ")
    assert env.read_choice("EVALSITE_MAIL_SECURITY", "starttls", "tls") == "tls"
    monkeypatch.setenv("EVALSITE_MAIL_SECURITY", "ssl3")
    with pytest.raises(ImproperlyConfigured, match="use starttls or tls"):
        env.read_choice("EVALSITE_MAIL_SECURITY", "starttls", "tls")


def settings_of(folder: Path, show: str, **environment: str) -> str:
    """What a process with these variables alone prints of its settings."""
    done = subprocess.run(
        [sys.executable, "-c", f"from evalsite import settings as s\nprint({show})"],
        env={"EVALSITE_DATA_DIR": str(folder), **environment},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


HSTS = "s.SECURE_HSTS_SECONDS, s.SECURE_HSTS_INCLUDE_SUBDOMAINS, s.SECURE_HSTS_PRELOAD"


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ({}, "0 False False"),
        ({"EVALSITE_HSTS": "preload"}, "0 False False"),  # not over plain HTTP
        ({"EVALSITE_HTTPS": "1"}, "31536000 False False"),
        ({"EVALSITE_HTTPS": "1", "EVALSITE_HSTS": "subdomains"}, "31536000 True False"),
        ({"EVALSITE_HTTPS": "1", "EVALSITE_HSTS": "preload"}, "31536000 True True"),
    ],
)
def test_other_hosts_of_the_domain_are_bound_only_on_request(
    tmp_path: Path, given: dict[str, str], shown: str
) -> None:
    assert settings_of(tmp_path, HSTS, **given) == shown


MAIL = 's.EMAIL_BACKEND.split(".")[-2], s.EMAIL_PORT, s.EMAIL_USE_TLS, s.EMAIL_USE_SSL'


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ({}, "console 587 True False"),
        ({"EVALSITE_MAIL_HOST": "mail.example.org"}, "smtp 587 True False"),
        (
            {
                "EVALSITE_MAIL_HOST": "mail.example.org",
                "EVALSITE_MAIL_PORT": "465",
                "EVALSITE_MAIL_SECURITY": "tls",
            },
            "smtp 465 False True",
        ),
        (
            {"EVALSITE_MAIL_HOST": "localhost", "EVALSITE_MAIL_SECURITY": "none"},
            "smtp 587 False False",
        ),
    ],
)
def test_mail_goes_to_the_server_that_is_named(
    tmp_path: Path, given: dict[str, str], shown: str
) -> None:
    assert settings_of(tmp_path, MAIL, **given) == shown


SSO = {
    "EVALSITE_SSO_ISSUER": "https://id.example.org/",
    "EVALSITE_SSO_CLIENT_ID": "evalsite",
    "EVALSITE_SSO_CLIENT_SECRET": "a secret",
}


def single_sign_on(monkeypatch: pytest.MonkeyPatch, **more: str) -> env.SingleSignOn | None:
    for name, value in {**SSO, **more}.items():
        monkeypatch.setenv(name, value)
    return env.read_single_sign_on()


def test_single_sign_on_has_the_usual_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    assert env.read_single_sign_on() is None
    sso = single_sign_on(monkeypatch)
    assert sso == env.SingleSignOn(
        "https://id.example.org", "evalsite", "a secret", "single sign-on"
    )
    other = single_sign_on(monkeypatch, EVALSITE_SSO_ISSUER="https://other.example.org")
    assert sso
    assert other
    assert sso.provider_id != other.provider_id
    chosen = single_sign_on(monkeypatch, EVALSITE_SSO_NAME="Example ID", EVALSITE_SSO_ONLY="1")
    assert chosen
    assert (chosen.name, chosen.is_only) == ("Example ID", True)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"EVALSITE_SSO_ISSUER": "http://id.example.org"}, "EVALSITE_SSO_ISSUER"),
        ({"EVALSITE_SSO_ISSUER": "id.example.org"}, "EVALSITE_SSO_ISSUER"),
        ({"EVALSITE_SSO_CLIENT_ID": ""}, "EVALSITE_SSO_CLIENT_ID"),
    ],
)
def test_half_a_provider_is_refused(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], named: str
) -> None:
    with pytest.raises(ImproperlyConfigured, match=named):
        single_sign_on(monkeypatch, **given)


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(env, "find_spec", lambda name: None if name == "jwt" else object())
    with pytest.raises(ImproperlyConfigured, match=r"requirements-sso\.txt"):
        single_sign_on(monkeypatch)


def test_a_site_with_a_provider_has_its_pages(tmp_path: Path) -> None:
    shown = "'evalsite.pages.account.sso' in s.INSTALLED_APPS, len(s.SOCIALACCOUNT_PROVIDERS)"
    assert settings_of(tmp_path, shown) == "False 1"
    assert settings_of(tmp_path, shown, **SSO) == "True 1"


DATABASE = (
    "postgresql://evals:p%40ss@db.example.org:5433/evals?sslmode=require&connect_timeout=3"
    "&options=-c%20work_mem%3D8MB"
)
SECRETS = {
    "EVALSITE_SECRET_KEY": "fifty characters or more, from the environment itself",
    "EVALSITE_ENCRYPTION_KEY": "fifty characters or more, and others than for sessions",
}


def database(monkeypatch: pytest.MonkeyPatch, url: str) -> dict[str, Any] | None:
    monkeypatch.setenv("DATABASE_URL", url)
    return env.read_database("DATABASE_URL")


def test_a_url_names_a_database_of_postgresql(monkeypatch: pytest.MonkeyPatch) -> None:
    assert database(monkeypatch, "") is None
    named = database(monkeypatch, DATABASE)
    assert named
    assert named["ENGINE"] == "django.db.backends.postgresql"
    assert [named[key] for key in ("USER", "PASSWORD", "HOST", "PORT", "NAME")] == [
        "evals",
        "p@ss",
        "db.example.org",
        5433,
        "evals",
    ]
    assert named["CONN_HEALTH_CHECKS"] is True
    options = named["OPTIONS"]
    assert (options["sslmode"], options["keepalives_idle"]) == ("require", 10)
    assert options["connect_timeout"] == 3  # what the URL says counts
    assert options["options"] == f"{env.SESSION} -c work_mem=8MB"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("mysql://evals:secret@db/evals", "begins with postgresql://"),
        ("evals:secret", "begins with postgresql://"),
        ("postgresql://evals:secret@db", "cannot be read"),
        ("postgresql://evals:secret@db:port/evals", "cannot be read"),
        ("postgresql://evals:sec[ret@db/evals", "cannot be read"),
    ],
)
def test_a_url_that_names_none_is_said_without_its_password(
    monkeypatch: pytest.MonkeyPatch, url: str, said: str
) -> None:
    with pytest.raises(ImproperlyConfigured, match=said) as caught:
        database(monkeypatch, url)
    assert "sec" not in str(caught.value)


def test_packages_for_postgresql_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(env, "find_spec", lambda name: None if name == "psycopg" else object())
    with pytest.raises(ImproperlyConfigured, match=r"requirements-postgresql\.txt"):
        database(monkeypatch, DATABASE)


@pytest.mark.parametrize(
    ("url", "shared"),
    [
        (DATABASE, True),
        ("postgresql://evals@localhost/evals", False),
        ("postgresql://evals@[::1]:5432/evals", False),
        ("postgresql:///evals", False),
        ("postgresql://%2Frun%2Fpostgresql/evals", False),
        ("postgresql:///evals?host=db.example.org", True),
        ("postgresql://evals@10.0.0.5,10.0.0.6/evals", True),
    ],
)
def test_a_database_of_another_machine_may_be_shared(
    monkeypatch: pytest.MonkeyPatch, url: str, *, shared: bool
) -> None:
    named = database(monkeypatch, url)
    assert named
    assert env.is_shared(named) is shared


@pytest.mark.parametrize("url", ["", "amqp://evals:secret@broker/evals", "redis://broker/0"])
def test_a_broker_may_be_rabbitmq_or_redis(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("CELERY_BROKER_URL", url)
    assert env.read_broker("CELERY_BROKER_URL") == url


def test_another_broker_is_refused_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CELERY_BROKER_URL", "sqs://evals:secret@broker")
    with pytest.raises(ImproperlyConfigured, match="begins with amqp://") as refused:
        env.read_broker("CELERY_BROKER_URL")
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("missing", ["celery", "redis"])
def test_the_packages_of_a_broker_are_named(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    monkeypatch.setenv("CELERY_BROKER_URL", "redis://broker/0")
    monkeypatch.setattr(env, "find_spec", lambda name: None if name == missing else object())
    with pytest.raises(ImproperlyConfigured, match=r"requirements-celery\.txt"):
        env.read_broker("CELERY_BROKER_URL")


def test_a_redis_counts_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    assert env.read_caches("REDIS_URL").keys() == {"default", "requests"}
    monkeypatch.setenv("REDIS_URL", "redis://:secret@counts.example.org/1")
    assert env.read_caches("REDIS_URL")["redis"]["LOCATION"].endswith("counts.example.org/1")


def test_another_store_than_redis_is_refused_without_its_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("REDIS_URL", "memcached://:secret@counts")
    with pytest.raises(ImproperlyConfigured, match="begins with redis://") as refused:
        env.read_caches("REDIS_URL")
    assert "secret" not in str(refused.value)
    monkeypatch.setenv("REDIS_URL", "redis://counts")
    monkeypatch.setattr(env, "find_spec", lambda _: None)
    with pytest.raises(ImproperlyConfigured, match=r"requirements-celery\.txt"):
        env.read_caches("REDIS_URL")


def test_a_token_is_not_a_word_that_is_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALSITE_METRICS_TOKEN", "k3J9-mQ7x_pL2vN8wR5t")
    assert env.read_token("EVALSITE_METRICS_TOKEN") == "k3J9-mQ7x_pL2vN8wR5t"
    for weak in ("monitoring", "a" * 40):
        monkeypatch.setenv("EVALSITE_METRICS_TOKEN", weak)
        with pytest.raises(ImproperlyConfigured, match="is too weak"):
            env.read_token("EVALSITE_METRICS_TOKEN")


def test_uploads_may_be_in_a_folder_or_a_bucket(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def read(text: str) -> Any:
        monkeypatch.setenv("EVALSITE_UPLOADS", text)
        return env.read_uploads("EVALSITE_UPLOADS")

    assert read("") is None
    assert read(str(tmp_path))["OPTIONS"]["location"] == str(tmp_path)
    options = read("s3://evals/one/two")["OPTIONS"]
    assert (options["bucket_name"], options["location"]) == ("evals", "one/two")
    assert read("s3://evals")["OPTIONS"]["location"] == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("shared", "the full path of a folder"),
        (".", "the full path of a folder"),
        ("s3:///prefix", "the bucket's name is missing"),
        ("gs://evals", "the full path of a folder"),
    ],
)
def test_uploads_elsewhere_are_refused(
    monkeypatch: pytest.MonkeyPatch, text: str, said: str
) -> None:
    monkeypatch.setenv("EVALSITE_UPLOADS", text)
    with pytest.raises(ImproperlyConfigured, match=said):
        env.read_uploads("EVALSITE_UPLOADS")


@pytest.mark.parametrize("missing", ["storages", "boto3"])
def test_the_packages_of_a_bucket_are_named(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    monkeypatch.setenv("EVALSITE_UPLOADS", "s3://evals")
    monkeypatch.setattr(env, "find_spec", lambda name: None if name == missing else object())
    with pytest.raises(ImproperlyConfigured, match=r"requirements-s3\.txt"):
        env.read_uploads("EVALSITE_UPLOADS")


@pytest.mark.parametrize("missing", SECRETS)
def test_sites_that_share_a_database_share_their_secrets(tmp_path: Path, missing: str) -> None:
    show = "s.DATABASES['default']['HOST'], s.DATABASES['default']['CONN_MAX_AGE']"
    assert settings_of(tmp_path, show, DATABASE_URL=DATABASE, **SECRETS) == "db.example.org None"
    assert not list(tmp_path.glob("*_key"))
    given = {name: text for name, text in SECRETS.items() if name != missing}
    with pytest.raises(subprocess.CalledProcessError) as caught:
        settings_of(tmp_path, show, DATABASE_URL=DATABASE, **given)
    assert f"{missing} is missing" in caught.value.stderr


def test_one_machine_keeps_its_secrets_in_files(tmp_path: Path) -> None:
    shown = settings_of(tmp_path, "s.SECRET_KEY != ''", DATABASE_URL="postgresql:///evals")
    assert shown == "True"
    assert {path.name for path in tmp_path.glob("*_key")} == {"secret_key", "encryption_key"}


@pytest.mark.postgresql
@pytest.mark.django_db
def test_what_is_asked_often_is_planned_once() -> None:
    prepared = "SELECT COUNT(*) FROM pg_prepared_statements WHERE statement LIKE %s"
    for number in range(6):
        Team.objects.filter(slug=str(number)).exists()
    with connection.cursor() as cursor:
        cursor.execute(prepared, ['SELECT%"scoring_team"%'])
        assert cursor.fetchone() == (1,)
