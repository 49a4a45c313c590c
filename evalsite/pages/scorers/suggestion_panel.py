"""Scorers for a dataset: what suits its cases, with what that says of a sample of its outputs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cached_property
from typing import Final, NamedTuple

from django.urls import reverse

from evalsite.pages.web.responses import SignedInRequest
from scoring.core.registry import ScorerType, scorer_type
from scoring.engine.tryout.suggestions import MeasuredScorer, Suggestions, suggest_for_dataset
from scoring.models import Dataset, Team

DATASETS: Final = 50  # to choose from, the newest


class OfferedScorer(NamedTuple):
    """A suggestion with the form that begins with it."""

    measured: MeasuredScorer
    type: ScorerType
    url: str


class SuggestionPanel:
    """The panel above the types: the choice of a dataset, and what is suggested for it.

    It is asked for by the address, so that the page itself scores nothing.
    """

    def __init__(self, request: SignedInRequest, team: Team) -> None:
        self._user, self._query, self._team = request.user, request.GET, team

    @cached_property
    def datasets(self) -> list[Dataset]:
        rows = Dataset.objects.filter(team=self._team).listed().select_related("latest")
        return list(rows.order_by("-pk")[:DATASETS])

    @cached_property
    def chosen(self) -> Dataset | None:
        """The dataset that the address names, else the newest."""
        named = self._query.get("dataset", "")
        chosen = (row for row in self.datasets if str(row.uuid) == named)
        return next(chosen, next(iter(self.datasets), None))

    @cached_property
    def suggestions(self) -> Suggestions | None:
        """None until they are asked for."""
        if "dataset" not in self._query or self.chosen is None:
            return None
        return suggest_for_dataset(self.chosen, self._user)

    def scorers(self) -> Iterator[OfferedScorer]:
        for measured in self.suggestions.scorers if self.suggestions else ():
            kind, suggested = scorer_type(measured.suggested.type), measured.suggested
            query = {"name": suggested.name, "config": json.dumps(dict(suggested.config))}
            url = reverse("new_scorer", args=[self._team.slug, kind.name], query=query)
            yield OfferedScorer(measured, kind, url)
