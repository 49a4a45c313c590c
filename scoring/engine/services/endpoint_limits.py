"""The limits of endpoints, kept in the database for workers of several machines."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

from django.db import close_old_connections, transaction
from django.db.models.functions import Now
from django.utils.crypto import salted_hmac

from scoring.core.llm.endpoint import Endpoint
from scoring.core.llm.limit_sharing import (
    EXPIRE_SECONDS,
    TURN_SECONDS,
    Allowance,
    Share,
    Usage,
    allow_calls,
)
from scoring.engine.jobs import lease
from scoring.models import EndpointLimit

FORGET_AFTER: Final = timedelta(days=1)


class EndpointLimits:
    """A row for each endpoint, which a process locks while it exchanges its share."""

    def exchange(self, endpoint: Endpoint, caller: int, usage: Usage) -> Allowance:
        """Say what a caller of this process has, and get what it may have. On a thread that has
        nothing else to do with the database.
        """
        close_old_connections()
        own = f"{lease.own_name()}#{caller}"
        with transaction.atomic():
            row, now = _locked_row(endpoint)
            others = {name: each for name, each in row.shares.items() if name != own}
            row.shares = {name: each for name, each in others.items() if _is_alive(name, each, now)}
            calls = allow_calls(
                endpoint.concurrency,
                {name: Share(each["demand"], each["allowed"]) for name, each in row.shares.items()},
                own,
                usage,
                int(now.timestamp() / TURN_SECONDS),
            )
            if usage.demand or calls:
                expires_at = now.timestamp() + EXPIRE_SECONDS
                share = {"demand": usage.demand, "allowed": calls, "expires_at": expires_at}
                row.shares[own] = share
            pause_ends = [now + timedelta(seconds=usage.pause_seconds), row.opens_at or now, now]
            row.opens_at, row.used_at = max(pause_ends), now
            row.save(update_fields=["shares", "opens_at", "used_at"])
            return Allowance(calls, (row.opens_at - now).total_seconds())


def delete_unused_limits() -> None:
    """Forget endpoints that nobody has asked for a day."""
    EndpointLimit.objects.filter(used_at__lt=Now() - FORGET_AFTER).delete()


def _locked_row(endpoint: Endpoint) -> tuple[EndpointLimit, datetime]:
    """The row of the endpoint, and the time by the database's clock."""
    place = f"{endpoint.name}\n{endpoint.base_url}\n{endpoint.api_key}"
    key = salted_hmac("endpoint limit", place, algorithm="sha256").hexdigest()
    EndpointLimit.objects.get_or_create(key=key, defaults={"used_at": Now()})
    row = EndpointLimit.objects.select_for_update().annotate(now=Now()).get(key=key)
    return row, row.now


def _is_alive(name: str, share: dict[str, Any], now: datetime) -> bool:
    process = name.rpartition("#")[0]
    return share["expires_at"] > now.timestamp() and not lease.is_dead(process)
