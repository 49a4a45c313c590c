"""Connections: endpoints of language models with encrypted keys, limits and prices."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, Self

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models, transaction
from django.db.models import Q

from scoring.core.contract import ServiceError
from scoring.core.embeddings import local as embedding_local
from scoring.core.llm.endpoint import Endpoint, Price
from scoring.core.llm.ssrf_guard import RefusedError, check_url
from scoring.core.services import ENVIRONMENT, AvailableServices
from scoring.models.base import AddressedRow, validate_name
from scoring.models.encryption import DecryptionError, decrypt, encrypt
from scoring.models.locks import lock_row
from scoring.models.team.audit_entry import AuditEntry
from scoring.models.team.team import Team, User

OPENAI_URL: Final = "https://api.openai.com/v1"
MAX_MODELS: Final = 100
MAX_PRICE: Final = 1_000_000.0
HIDDEN_CHARS: Final = 12  # of a key that is shorter, the last four would tell too much
PRICES: Final = ("usd_per_million_in", "usd_per_million_out")


class KeyUnreadableError(ServiceError):
    """A connection's stored key no longer opens."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"the key of connection {name} can no longer be read: the site's encryption key is "
            "another one now; type the connection's key again",
            retry=False,
        )


class ConnectionQuerySet(models.QuerySet["Connection"]):
    def define(
        self,
        team: Team,
        name: str,
        base_url: str,
        *,
        key: str = "",
        offered: Sequence[Mapping[str, Any]] = (),
        timeout_seconds: int = 60,
        concurrency: int = 8,
        by: User | None,
    ) -> Connection:
        """A new connection; a team's first one becomes its default.

        Raises ValidationError by field, IntegrityError when the name is taken.
        """
        connection = Connection(
            team=team,
            name=name.strip(),
            base_url=_clean_url(base_url),
            offered=clean_models(offered),
            timeout_seconds=timeout_seconds,
            concurrency=concurrency,
            created_by=by,
        )
        connection._seal(key)
        connection._check()
        with transaction.atomic():
            team_row = Team.objects.lock(team)
            connection.is_default = not self.filter(team=team_row, is_default=True).exists()
            connection.save()
            AuditEntry.objects.record(
                team, by, "connection.created", connection, new=connection.described()
            )
        return connection

    def visible_to(self, user: User) -> Self:
        return self.filter(team__in=Team.objects.of(user))

    def for_list(self) -> Self:
        """By name, the default one first."""
        return self.order_by("-is_default", "name")

    def available_to(self, team: Team) -> AvailableServices:
        """What a scorer that leaves its connection or provider open can be settled with."""
        rows = list(self.filter(team=team).for_list().values_list("name", "is_default"))
        return AvailableServices(
            connections=sorted(name for name, _ in rows),
            default_connection=next((name for name, is_default in rows if is_default), None),
            has_environment_key=bool(settings.EVALSITE_OPENAI_API_KEY),
            has_local_embeddings=embedding_local.is_installed(),
        )

    def endpoint_for(self, team: Team, name: str | None) -> Endpoint | None:
        """The named connection's endpoint, or the default one's, or else the environment's.

        None where there is none. Raises KeyUnreadableError.
        """
        if name == ENVIRONMENT:
            return environment_endpoint()
        wanted = Q(name=name) if name is not None else Q(is_default=True)
        connection = self.filter(wanted, team=team).first()
        if connection:
            return connection.endpoint()
        return environment_endpoint() if name is None else None


class Connection(AddressedRow):
    """An OpenAI-compatible endpoint a team may call, with its key.

    `encrypted_key` holds the key and the URL it was given for, encrypted together: with another URL
    it does not open. `offered` lists the models as {name, usd_per_million_in,
    usd_per_million_out}, a price None where it is not known. Scorers name a connection, so its
    name never changes.
    """

    team = models.ForeignKey(Team, models.CASCADE, related_name="connections")
    name = models.CharField(max_length=100, validators=[validate_name])
    base_url = models.CharField("base URL", max_length=500)
    encrypted_key = models.TextField(blank=True, default="", editable=False)
    last_four = models.CharField(max_length=4, blank=True, default="", editable=False)
    offered = models.JSONField("models", default=list, blank=True)
    timeout_seconds = models.PositiveIntegerField(
        default=60, validators=[MinValueValidator(1), MaxValueValidator(600)]
    )
    concurrency = models.PositiveIntegerField(
        default=8, validators=[MinValueValidator(1), MaxValueValidator(256)]
    )
    is_default = models.BooleanField(default=False)
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")

    objects = ConnectionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "name"], name="connection_name_once"),
            models.UniqueConstraint(
                fields=["team"], condition=Q(is_default=True), name="one_default_connection"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def key_shown(self) -> str:
        """What may be shown of the key: its end, or that there is one."""
        return f"…{self.last_four}" if self.last_four else "set" if self.encrypted_key else "none"

    @property
    def can_decrypt_key(self) -> bool:
        """Whether the stored key, if any, can still be read."""
        try:
            self.endpoint()
        except KeyUnreadableError:
            return False
        return True

    def described(self) -> dict[str, Any]:
        """What the audit keeps: everything but the key."""
        return {
            "base_url": self.base_url,
            "key": self.key_shown,
            "models": self.offered,
            "timeout_seconds": self.timeout_seconds,
            "concurrency": self.concurrency,
            "is_default": self.is_default,
        }

    def is_named_in(self, config: Any) -> bool:
        """Whether a config, or one of a scorer inside it, names this connection."""
        if isinstance(config, list):
            return any(self.is_named_in(item) for item in config)
        if not isinstance(config, dict):
            return False
        return config.get("connection") == self.name or self.is_named_in(list(config.values()))

    def endpoint(self) -> Endpoint:
        """How it is called. Raises KeyUnreadableError."""
        try:
            key = decrypt(self.encrypted_key, self.base_url) if self.encrypted_key else ""
        except DecryptionError:
            raise KeyUnreadableError(self.name) from None
        return Endpoint(
            name=self.name,
            base_url=self.base_url,
            api_key=key,
            timeout_seconds=self.timeout_seconds,
            concurrency=self.concurrency,
            prices={row["name"]: Price(*(row[price] for price in PRICES)) for row in self.offered},
            allowed_hosts=frozenset(settings.EVALSITE_MODEL_HOSTS),
        )

    def change(
        self,
        *,
        by: User | None,
        base_url: str,
        key: str | None = None,
        offered: Sequence[Mapping[str, Any]] = (),
        timeout_seconds: int,
        concurrency: int,
    ) -> None:
        """Set everything anew; `key` None keeps the stored one and "" drops it.

        A key never goes to another URL than it was given for: with a new URL it has to be given
        again. Raises ValidationError by field.
        """
        with transaction.atomic():
            lock_row(self)
            old, old_url = self.described(), self.base_url
            self.base_url = _clean_url(base_url)
            if key is None and self.encrypted_key and self.base_url != old_url:
                self.base_url = old_url
                text = f"The stored key was given for {old_url}. Type the key for the new URL."
                raise ValidationError({"key": text})
            self.offered = clean_models(offered)
            self.timeout_seconds, self.concurrency = timeout_seconds, concurrency
            if key is not None:
                self._seal(key)
            self._check()
            self.save()
            new = self.described() | ({"key_replaced": True} if key else {})
            AuditEntry.objects.record(self.team, by, "connection.changed", self, old=old, new=new)

    def make_default(self, *, by: User | None) -> None:
        """Let scorers that name no connection use this one."""
        with transaction.atomic():
            Team.objects.lock(self.team)
            defaults = Connection.objects.filter(team=self.team_id, is_default=True)
            previous = defaults.first()
            if previous == self:
                return
            defaults.update(is_default=False)
            self.is_default = True
            self.save(update_fields=["is_default"])
            old, new = {"default": previous and previous.name}, {"default": self.name}
            AuditEntry.objects.record(self.team, by, "connection.default", self, old=old, new=new)

    def remove(self, *, by: User | None) -> None:
        """Forget the connection and its key; what was called through it stays."""
        with transaction.atomic():
            removed = Connection.objects.select_for_update().filter(pk=self.pk).first()
            if removed is not None:
                old = removed.described()
                AuditEntry.objects.record(self.team, by, "connection.removed", removed, old=old)
                removed.delete()

    def _seal(self, key: str) -> None:
        key = key.strip()
        if re.search(r"[^!-~]", key):
            raise ValidationError({"key": "A key has no spaces and only plain characters."})
        self.encrypted_key = encrypt(key, self.base_url) if key else ""
        self.last_four = key[-4:] if len(key) >= HIDDEN_CHARS else ""

    def _check(self) -> None:
        if self.name == ENVIRONMENT:
            raise ValidationError({"name": f"{ENVIRONMENT} is the name of OPENAI_API_KEY's own."})
        self.clean_fields(exclude=["team", "created_by"])


def environment_endpoint() -> Endpoint | None:
    """The endpoint of OPENAI_API_KEY and OPENAI_BASE_URL; None where neither is set.

    The operator chose its host, so it need not be public.
    """
    key, url = settings.EVALSITE_OPENAI_API_KEY, settings.EVALSITE_OPENAI_BASE_URL
    if not key and not url:
        return None
    base_url = (url or OPENAI_URL).rstrip("/")
    return Endpoint(ENVIRONMENT, base_url, api_key=key, allowed_hosts=_hosts_with(base_url))


def _hosts_with(url: str) -> frozenset[str]:
    """The listed hosts and the one of this URL; that one's spelling is the operator's business."""
    hosts = frozenset(settings.EVALSITE_MODEL_HOSTS)
    try:
        return hosts | {check_url(url, hosts).entry}
    except RefusedError as refused:
        return hosts | {refused.allow} if refused.allow else hosts


def _clean_url(text: str) -> str:
    """The URL as it is stored. Raises ValidationError."""
    url = text.strip().rstrip("/")
    try:
        check_url(url, settings.EVALSITE_MODEL_HOSTS)
    except RefusedError as refused:
        raise ValidationError({"base_url": refused.text}) from None
    return url


def clean_models(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The offered models as they are stored. Raises ValidationError."""
    names = [str(row["name"]).strip() for row in rows]
    models: list[dict[str, Any]] = [
        {"name": name, **{price: row.get(price) for price in PRICES}}
        for name, row in zip(names, rows, strict=True)
    ]
    if len(names) > MAX_MODELS:
        raise ValidationError({"offered": f"At most {MAX_MODELS} models."})
    if len(set(names)) < len(names) or not all(0 < len(name) <= 200 for name in names):
        raise ValidationError({"offered": "Every model has a name of its own."})
    if not all(_is_price(row[price]) for row in models for price in PRICES):
        raise ValidationError({"offered": f"A price is a number from 0 to {MAX_PRICE:,.0f}."})
    return models


def _is_price(value: Any) -> bool:
    if value is None:
        return True
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(value) and 0 <= value <= MAX_PRICE
