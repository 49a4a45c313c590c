"""Every environment variable Evalsite knows, each read once; docs/environment.md lists them."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import find_spec
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from scoring.core.private_files import make_private, open_private

ROOT = Path(__file__).resolve().parent.parent

#: The variable that gives a secret, by the file in the data folder that keeps it otherwise.
SECRETS: Final = {"secret_key": "EVALSITE_SECRET_KEY", "encryption_key": "EVALSITE_ENCRYPTION_KEY"}
LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
#: How PostgreSQL is reached: a server that vanished is noticed within half a minute, and what a
#: connection is asked for the sixth time is prepared, since planning it takes longer than doing it.
CONNECTIONS: Final[Mapping[str, Any]] = {
    "application_name": "evalsite",
    "server_side_binding": True,
    "prepare_threshold": 5,
    "connect_timeout": 10,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 25_000,
}
#: A process that stands still inside a transaction, as on a paused machine, keeps others from its
#: rows; after a minute the server ends it.
SESSION: Final = "-c idle_in_transaction_session_timeout=60s"

#: A request waits for a server that does not answer, but not for long.
S3_LIMITS: Final[Mapping[str, Any]] = {
    "connect_timeout": 5,
    "read_timeout": 30,
    "retries": {"max_attempts": 2},
}
REDIS: Final = ("redis://", "rediss://")
BROKERS: Final = ("amqp://", "amqps://", *REDIS)

Proxies = int | tuple[IPv4Network | IPv6Network, ...]


def read_flag(name: str, default: bool) -> bool:
    """True for 1, true, yes, on; False for 0, false, no, off or an empty value."""
    text = os.environ.get(name, "1" if default else "0").strip().lower()
    if text in {"1", "true", "yes", "on"}:
        return True
    if text in {"", "0", "false", "no", "off"}:
        return False
    raise ImproperlyConfigured(f"{name} is {text!r}; use 1 or 0")


def read_list(name: str, default: str = "") -> list[str]:
    """The comma-separated values of a variable, blanks dropped."""
    return [part.strip() for part in os.environ.get(name, default).split(",") if part.strip()]


def read_integer(name: str, default: int, minimum: int = 1) -> int:
    """A whole number of at least `minimum`."""
    text = os.environ.get(name, str(default))
    if not text.isdecimal() or int(text) < minimum:
        raise ImproperlyConfigured(f"{name} is {text!r}; use a whole number, {minimum} or more")
    return int(text)


def read_or_create_secret(folder: Path, name: str) -> str:
    """The secret kept in `folder`/`name`, made on first use and readable by its owner only.

    Two processes starting together agree: the file is created exclusively and the loser reads
    the winner's.
    """
    path = folder / name
    staged = folder / f".{name}.{os.getpid()}"
    if not path.exists():
        with open_private(staged, "wb") as file:
            file.write(secrets.token_urlsafe(50).encode())
        try:
            os.link(staged, path)
        except FileExistsError:
            pass
        finally:
            staged.unlink()
    make_private(path)
    return path.read_text()


def read_line(name: str, default: str = "") -> str:
    """A value that goes into an HTTP header: printable ASCII, white space around it dropped."""
    text = os.environ.get(name, default).strip()
    if any(not "!" <= character <= "~" for character in text):
        raise ImproperlyConfigured(f"{name} has a space or an unusual character in it")
    return text


def read_token(name: str) -> str:
    """A secret word of 20 or more characters; "" where it is not set."""
    text = read_line(name)
    if text and (len(text) < 20 or len(set(text)) < 5):
        raise ImproperlyConfigured(f"{name} is too weak: use 20 or more random characters")
    return text


def read_choice(name: str, *choices: str) -> str:
    """One of a few words, the first where the variable is not set."""
    text = os.environ.get(name, choices[0]).strip().lower()
    if text not in choices:
        raise ImproperlyConfigured(
            f"{name} is {text!r}; use {', '.join(choices[:-1])} or {choices[-1]}"
        )
    return text


def read_url(name: str) -> str:
    """The site's own URL, without a slash at its end; "" where it is not set."""
    url = read_line(name).rstrip("/")
    if url and not url.startswith(("https://", "http://")):
        raise ImproperlyConfigured(f"{name} is {url!r}; it begins with https:// or http://")
    if url and urlsplit(url).path:
        raise ImproperlyConfigured(
            f"{name} is {url!r}; the site works at the root of a host, not under a path"
        )
    return url


@dataclass(frozen=True)
class SingleSignOn:
    """The OpenID Connect provider through which people sign in."""

    issuer: str
    client_id: str
    client_secret: str
    name: str
    scopes: tuple[str, ...] = ("openid", "profile", "email")
    groups_claim: str = "groups"
    trusts_addresses: bool = False
    is_only: bool = False

    @property
    def provider_id(self) -> str:
        """What the provider's accounts are kept under: those of another issuer are others."""
        return f"sso-{sha256(self.issuer.encode()).hexdigest()[:16]}"

    @property
    def apps(self) -> list[dict[str, Any]]:
        """The provider as allauth's settings name it."""
        app = {
            "provider_id": self.provider_id,
            "name": self.name,
            "client_id": self.client_id,
            "secret": self.client_secret,
            "settings": {
                "server_url": self.issuer,
                "scope": list(self.scopes),
                "oauth_pkce_enabled": True,
            },
        }
        return [app]


def read_single_sign_on() -> SingleSignOn | None:
    """The provider; None where none is named."""
    issuer = read_line("EVALSITE_SSO_ISSUER").rstrip("/")
    if not issuer:
        return None
    is_local = urlsplit(issuer).hostname in LOOPBACK
    if not (issuer.startswith("https://") or (is_local and issuer.startswith("http://"))):
        raise ImproperlyConfigured(f"EVALSITE_SSO_ISSUER is {issuer!r}; it begins with https://")
    if any(find_spec(library) is None for library in ("requests", "oauthlib", "jwt")):
        raise ImproperlyConfigured(
            "EVALSITE_SSO_ISSUER needs more packages: install those of requirements-sso.txt"
        )
    client_id = read_line("EVALSITE_SSO_CLIENT_ID")
    if not client_id:
        raise ImproperlyConfigured("EVALSITE_SSO_CLIENT_ID is missing")
    return SingleSignOn(
        issuer=issuer,
        client_id=client_id,
        client_secret=os.environ.get("EVALSITE_SSO_CLIENT_SECRET", ""),
        name=os.environ.get("EVALSITE_SSO_NAME", "").strip() or "single sign-on",
        scopes=tuple(read_list("EVALSITE_SSO_SCOPES", "openid,profile,email")),
        groups_claim=os.environ.get("EVALSITE_SSO_GROUPS_CLAIM", "").strip() or "groups",
        trusts_addresses=read_flag("EVALSITE_SSO_TRUST_ADDRESSES", False),
        is_only=read_flag("EVALSITE_SSO_ONLY", False),
    )


def read_proxies(name: str) -> Proxies:
    """How many proxies on this machine are trusted, or the networks of those anywhere."""
    text = os.environ.get(name, "0").strip()
    if text.isdecimal():
        return int(text)
    try:
        return tuple(ip_network(part) for part in read_list(name))
    except ValueError:
        raise ImproperlyConfigured(
            f"{name} is {text!r}; use how many proxies run on this machine, or their addresses"
            " such as 10.0.0.5,172.18.0.0/16"
        ) from None


def read_database(name: str) -> dict[str, Any] | None:
    """Django's settings of the PostgreSQL database that the URL names; None where it is not set.

    What the URL's query says goes to libpq and counts more than CONNECTIONS.
    """
    url = read_line(name)
    if not url:
        return None
    if not url.startswith(("postgresql://", "postgres://")):
        raise ImproperlyConfigured(f"{name} begins with postgresql://; without it SQLite is used")
    if any(find_spec(package) is None for package in ("psycopg", "dj_database_url")):
        raise ImproperlyConfigured(
            f"{name} needs more packages: install those of requirements-postgresql.txt"
        )
    import dj_database_url

    try:
        database: dict[str, Any] = dict(
            dj_database_url.parse(url, conn_max_age=None, conn_health_checks=True)
        )
    except ValueError:  # its text shows the password
        database = {}
    if not database.get("NAME"):
        raise ImproperlyConfigured(
            f"{name} cannot be read: write postgresql://user:password@host:5432/database, with"
            " %xx for unusual characters of the password"
        )
    said = database.get("OPTIONS", {})
    session = f"{SESSION} {said.get('options', '')}".rstrip()
    database["OPTIONS"] = {**CONNECTIONS, **said, "options": session}
    return database


def read_broker(name: str) -> str:
    """The URL of the broker that hands shards to workers; empty where there is none."""
    url = read_line(name)
    if not url:
        return ""
    if not url.startswith(BROKERS):
        schemes = " or ".join(BROKERS)
        raise ImproperlyConfigured(f"{name} begins with {schemes}")
    packages = ["celery", "redis"] if "redis" in url.partition(":")[0] else ["celery"]
    if any(find_spec(package) is None for package in packages):
        raise ImproperlyConfigured(
            f"{name} needs more packages: install those of requirements-celery.txt"
        )
    return url


def read_caches(name: str) -> dict[str, Any]:
    """Django's settings of caches: what was computed, and requests that were counted, in the memory
    of the process, and the Redis of this URL, where there is one.
    """
    memory = "django.core.cache.backends.locmem.LocMemCache"
    caches: dict[str, Any] = {
        "default": {"BACKEND": memory},
        "requests": {"BACKEND": memory, "LOCATION": name, "OPTIONS": {"MAX_ENTRIES": 10_000}},
    }
    url = read_line(name)
    if not url:
        return caches
    if not url.startswith(REDIS):
        raise ImproperlyConfigured(f"{name} begins with {' or '.join(REDIS)}")
    if find_spec("redis") is None:
        raise ImproperlyConfigured(
            f"{name} needs one more package: install those of requirements-celery.txt"
        )
    caches["redis"] = {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": url,
        "KEY_PREFIX": "evalsite",
        "OPTIONS": {"socket_connect_timeout": 0.5, "socket_timeout": 0.5},
    }
    return caches


def read_uploads(name: str) -> dict[str, Any] | None:
    """Django's settings of the storage that machines share uploaded files by: the full path of a
    folder, which need not be there at every moment, or a bucket as `s3://bucket/prefix`. None where
    it is not set.
    """
    text = read_line(name)
    if not text:
        return None
    if text.startswith("s3://"):
        return _read_bucket(name, text)
    if not Path(text).is_absolute():
        raise ImproperlyConfigured(
            f"{name} is {text!r}; it is the full path of a folder that all machines share, or"
            " s3://bucket/prefix"
        )
    return {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": text, "file_permissions_mode": 0o600},
    }


def _read_bucket(name: str, url: str) -> dict[str, Any]:
    """Where the server is and who asks, boto3 finds by itself: by AWS_… variables and the like."""
    if any(find_spec(package) is None for package in ("storages", "boto3")):
        raise ImproperlyConfigured(
            f"{name} needs more packages: install those of requirements-s3.txt"
        )
    from botocore.config import Config

    bucket, _, prefix = url.removeprefix("s3://").partition("/")
    if not bucket:
        raise ImproperlyConfigured(f"{name} is {url!r}; the bucket's name is missing")
    return {
        "BACKEND": "storages.backends.s3.S3Storage",
        "OPTIONS": {
            "bucket_name": bucket,
            "location": prefix,
            "default_acl": None,
            "max_memory_size": 8 * 1024 * 1024,
            "client_config": Config(**S3_LIMITS),
        },
    }


def is_shared(database: Mapping[str, Any]) -> bool:
    """Whether it is on another machine than this, and others may well use it, too."""
    host = database["OPTIONS"].get("host") or database["HOST"]
    is_here = not host or host.startswith("/") or host in LOOPBACK
    return not is_here


def read_secret(file_name: str) -> str:
    """From the environment, else from the data folder, where it is made on first use."""
    variable = SECRETS[file_name]
    if text := os.environ.get(variable, ""):
        return text
    if DATABASE and is_shared(DATABASE):
        raise ImproperlyConfigured(
            f"{variable} is missing: sites that share a database on another machine share their"
            " secrets, so they come from the environment"
        )
    return read_or_create_secret(DATA_DIR, file_name)


def read_folder(name: str, default: Path) -> Path:
    """The folder, made if missing, for its owner alone whatever the umask.

    Others lose their rights in an existing folder that is this user's own.
    """
    path = Path(os.environ.get(name) or default).resolve()
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        make_private(path)
    except OSError as fault:
        raise ImproperlyConfigured(f"{name}: the folder {path} cannot be made: {fault}") from None
    return path


DATA_DIR = read_folder("EVALSITE_DATA_DIR", ROOT / "var")
DEBUG = read_flag("EVALSITE_DEBUG", False)
DATABASE = read_database("DATABASE_URL")
BROKER_URL = read_broker("CELERY_BROKER_URL")
CACHES = read_caches("REDIS_URL")
UPLOADS = read_uploads("EVALSITE_UPLOADS")
SECRET_KEY, ENCRYPTION_KEY = map(read_secret, SECRETS)
KEYS_GIVEN = [name for name, variable in SECRETS.items() if os.environ.get(variable)]
ALLOWED_HOSTS = read_list("EVALSITE_ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = read_list("EVALSITE_CSRF_TRUSTED_ORIGINS")
HTTPS = read_flag("EVALSITE_HTTPS", False)
HSTS = read_choice("EVALSITE_HSTS", "host", "subdomains", "preload")
TRUSTED_PROXIES = read_proxies("EVALSITE_TRUSTED_PROXIES")
SCORERS = read_list("EVALSITE_SCORERS")
WORKER_PROCESSES = read_integer("EVALSITE_WORKER_PROCESSES", os.cpu_count() or 1)
JUDGE_CHECK_SAMPLE = read_integer("EVALSITE_JUDGE_CHECK_SAMPLE", 20, minimum=0)
MAX_UPLOAD_MB = read_integer("EVALSITE_MAX_UPLOAD_MB", 512)
MODEL_HOSTS = read_list("EVALSITE_MODEL_HOSTS")
MODEL_FOLDERS = read_list("EVALSITE_MODEL_FOLDERS")
WEBHOOK_HOSTS = read_list("EVALSITE_WEBHOOK_HOSTS")
URL = read_url("EVALSITE_URL")
LOG_FORMAT = read_choice("EVALSITE_LOG_FORMAT", "text", "json")
METRICS_TOKEN = read_token("EVALSITE_METRICS_TOKEN")
MAIL_HOST = read_line("EVALSITE_MAIL_HOST")
MAIL_PORT = read_integer("EVALSITE_MAIL_PORT", 587)
MAIL_SECURITY = read_choice("EVALSITE_MAIL_SECURITY", "starttls", "tls", "none")
MAIL_USER = os.environ.get("EVALSITE_MAIL_USER", "")
MAIL_PASSWORD = os.environ.get("EVALSITE_MAIL_PASSWORD", "")
MAIL_FROM = os.environ.get("EVALSITE_MAIL_FROM") or "Evalsite <evalsite@localhost>"
OPENAI_API_KEY = read_line("OPENAI_API_KEY")
OPENAI_BASE_URL = read_line("OPENAI_BASE_URL")
SINGLE_SIGN_ON = read_single_sign_on()
