"""Counters of recent sign-in attempts, by account and address and by address alone.

The counters are rows, so that all processes share them and a restart does not reset them. No limit
is kept per account alone: it would let anybody lock another person out by guessing.
"""

from __future__ import annotations

import ipaddress
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from typing import Final

from django.db import models, transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac


class TooManyAttemptsError(Exception):
    """Raised where a limit is reached."""

    def __init__(self, wait_seconds: int) -> None:
        super().__init__(f"too many attempts; wait {wait_seconds} s")
        self.wait_seconds = wait_seconds


@dataclass(frozen=True)
class Limit:
    """At most `attempts` within `seconds` of the first one, counted under `subject`."""

    subject: tuple[str, ...]
    attempts: int
    seconds: int

    @property
    def key(self) -> str:
        """The name of the counter; tells neither account nor address."""
        return salted_hmac("evalsite.attempts", repr(self.subject), algorithm="sha256").hexdigest()


MAX_PER_ACCOUNT: Final = 5
MAX_PER_ADDRESS: Final = 100
MAX_MAILS: Final = 5
WINDOW_SECONDS: Final = 15 * 60


def limits_for(kind: str, account: str, address: str) -> list[Limit]:
    """The limits of an attempt of this kind to get into an account from an address."""
    pair = Limit(
        (kind, fold_account(account), address_network(address)), MAX_PER_ACCOUNT, WINDOW_SECONDS
    )
    return [pair, address_limit(kind, address)]


def address_limit(kind: str, address: str) -> Limit:
    """A generous limit: many people may share one address."""
    return Limit((kind, address_network(address)), MAX_PER_ADDRESS, WINDOW_SECONDS)


def mail_limit(account: str) -> Limit:
    """How many mails anybody can have sent to an account."""
    return Limit(("mail", fold_account(account)), MAX_MAILS, 3600)


def fold_account(account: str) -> str:
    """Equal for all spellings of an e-mail address that a database may take for the same."""
    return unicodedata.normalize("NFKC", account.strip()).upper().casefold()


def address_network(address: str) -> str:
    """The /64 network of an IPv6 address, since one person has all of it; IPv4 as it is."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    mapped = parsed.ipv4_mapped
    return str(mapped or ipaddress.ip_network((parsed, 64), strict=False))


class AttemptCounterQuerySet(models.QuerySet["AttemptCounter"]):
    def take(self, limits: Iterable[Limit]) -> None:
        """Count one attempt under each limit.

        Raises TooManyAttemptsError and counts nothing where one of them is reached. Attempts are
        counted before they are made, in a write transaction: attempts at the same time do not
        exceed a limit together.
        """
        ordered = sorted(limits, key=lambda limit: limit.key)  # no deadlock between two of them
        self._check(ordered)  # without the write lock, for who goes on after a limit
        with transaction.atomic():
            for limit in ordered:
                self.select_for_update().get_or_create(
                    key=limit.key, defaults={"expires_at": _window_end(limit)}
                )
            self._check(ordered)
            for limit in ordered:
                self._add(limit)

    def take_mail(self, account: str) -> bool:
        """Count one mail to an account; False where it had too many.

        The caller says the same then: whoever asked for it learns nothing.
        """
        try:
            self.take([mail_limit(account)])
        except TooManyAttemptsError:
            return False
        return True

    def give_back(self, limits: Iterable[Limit]) -> None:
        """Take back one attempt under each limit, because it succeeded."""
        keys = [limit.key for limit in limits]
        self.filter(key__in=keys, count__gt=0).update(count=models.F("count") - 1)

    def forget(self, limit: Limit) -> None:
        """Start again at zero."""
        self.filter(key=limit.key).delete()

    def forget_expired(self) -> None:
        self.filter(expires_at__lte=timezone.now()).delete()

    def _check(self, limits: list[Limit]) -> None:
        now = timezone.now()
        allowed = {limit.key: limit for limit in limits}
        counters = self.filter(key__in=allowed, expires_at__gt=now)
        waits = [
            counter.expires_at - now
            for counter in counters
            if counter.count >= allowed[counter.key].attempts
            and counter.expires_at <= _window_end(allowed[counter.key])
        ]
        if waits:
            raise TooManyAttemptsError(ceil(max(waits).total_seconds()))

    def _add(self, limit: Limit) -> None:
        current = self.filter(key=limit.key)
        end = _window_end(limit)
        open_window = current.filter(expires_at__gt=timezone.now(), expires_at__lte=end)
        if not open_window.update(count=models.F("count") + 1):
            current.update(count=1, expires_at=end)


def _window_end(limit: Limit) -> datetime:
    return timezone.now() + timedelta(seconds=limit.seconds)


class AttemptCounter(models.Model):
    """Attempts under one limit since its first one; void once expired, and where it expires later
    than a window that begins now: a clock was set back.
    """

    key = models.CharField(max_length=64, primary_key=True)
    count = models.PositiveIntegerField(default=0)
    expires_at = models.DateTimeField(db_index=True)

    objects = AttemptCounterQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.count} until {self.expires_at:%Y-%m-%d %H:%M}"
