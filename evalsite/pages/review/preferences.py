"""Which series of a dataset people prefer: every pair, and from three on their order."""

from __future__ import annotations

import uuid
from typing import Any

from django.http import HttpResponse

from evalsite import access
from evalsite.pages.web.decorators import get_page
from evalsite.pages.web.responses import SignedInRequest, render_page
from scoring.engine.review.series_preferences import compare_series, has_open_pairs


@get_page
def dataset_preferences(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Hidden from whoever is still to compare outputs of the dataset."""
    dataset = access.dataset_for(request.user, uid)
    is_hidden = has_open_pairs(request.user, dataset)
    context: dict[str, Any] = {
        "team": dataset.team,
        "dataset": dataset,
        "is_hidden": is_hidden,
        "preferences": None if is_hidden else compare_series(dataset),
    }
    return render_page(request, "review/series_preferences.html", context)
