"""How many calls of an endpoint each process may have under way, where several make them."""

from __future__ import annotations

from django.db import models


class EndpointLimit(models.Model):
    """The calls of one endpoint. `key` is a digest of its address and key.

    `shares` are by process, {demand, allowed, expires_at}: the calls it wants, those it may have,
    and until when, in seconds since 1970 by the database's clock. Until `opens_at` all pause.
    """

    key = models.CharField(max_length=64, unique=True)
    shares = models.JSONField(default=dict, blank=True)
    opens_at = models.DateTimeField(null=True, blank=True)
    used_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.key[:12]
