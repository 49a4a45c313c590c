"""Finding a team's things by name."""

from __future__ import annotations

from dataclasses import dataclass

from scoring.models import Dataset, Run, Scorer, Team

LIMIT = 20


@dataclass(frozen=True, slots=True)
class Found:
    """What has the text in its name, at most LIMIT of each kind."""

    datasets: list[Dataset]
    runs: list[Run]
    scorers: list[Scorer]

    @property
    def is_empty(self) -> bool:
        return not (self.datasets or self.runs or self.scorers)


def search(team: Team, text: str) -> Found:
    """The team's datasets, runs and scorers with `text` in their names; none for no text."""
    if not text:
        return Found([], [], [])
    datasets = team.datasets.published().for_list().filter(name__icontains=text)
    runs = team.runs.for_list().filter(name__icontains=text)
    scorers = team.scorers.for_list().filter(name__icontains=text)
    return Found(list(datasets[:LIMIT]), list(runs[:LIMIT]), list(scorers[:LIMIT]))
