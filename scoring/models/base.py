"""The base of rows with a public id."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Value
from django.db.models.functions import Coalesce, Greatest
from django.utils import timezone
from uuid_utils.compat import uuid7


def new_uuid() -> uuid.UUID:
    """A UUIDv7: unguessable enough for a URL, and in order of creation."""
    value: uuid.UUID = uuid7()
    return value


class AddressedRow(models.Model):
    """A row that URLs and the API name by `uuid`; other rows point at it by its small id."""

    uuid = models.UUIDField(default=new_uuid, unique=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        abstract = True


def now_after(beginning: str) -> Greatest:
    """The present time, but not before that of the column: a clock may have been set back."""
    now = Value(timezone.now(), output_field=models.DateTimeField())
    return Greatest(Coalesce(models.F(beginning), now), now)
