from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from scoring.models import EndpointLimit

pytestmark = pytest.mark.django_db


def test_an_endpoint_has_one_row() -> None:
    """Two that came first at once would each allow all of its calls."""
    EndpointLimit.objects.create(key="k" * 64, used_at=Now())
    with pytest.raises(IntegrityError), transaction.atomic():
        EndpointLimit.objects.create(key="k" * 64, used_at=Now())
    row = EndpointLimit.objects.get()
    assert (row.shares, row.opens_at, str(row)) == ({}, None, "k" * 12)
