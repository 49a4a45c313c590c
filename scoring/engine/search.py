"""Search of a team's datasets, runs, scorers and suites by name."""

from __future__ import annotations

from dataclasses import dataclass, field

from scoring.models import Dataset, Run, Scorer, Suite, Team
from scoring.models.runs.relabel import attach_later_labels

LIMIT = 20


@dataclass(frozen=True, slots=True)
class SearchResults:
    """What has the text in its name, at most LIMIT of each kind; `is_cut` where there is more."""

    datasets: list[Dataset] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    scorers: list[Scorer] = field(default_factory=list)
    suites: list[Suite] = field(default_factory=list)
    is_cut: bool = False

    @property
    def counts(self) -> list[tuple[str, int]]:
        """How many of each kind that was found."""
        counts = {
            "dataset": len(self.datasets),
            "run": len(self.runs),
            "scorer": len(self.scorers),
            "suite": len(self.suites),
        }
        return [(kind, count) for kind, count in counts.items() if count]


def search(team: Team, text: str) -> SearchResults:
    """What the team has with `text` in its name; nothing for no text."""
    if not text:
        return SearchResults()
    named = {"name__icontains": text}
    datasets = list(team.datasets.published().for_list().filter(**named)[: LIMIT + 1])
    runs = list(team.runs.for_list().filter(**named)[: LIMIT + 1])
    attach_later_labels(runs)
    scorers = list(team.scorers.for_list().filter(**named)[: LIMIT + 1])
    suites = list(Suite.objects.filter(team=team, **named).for_list()[: LIMIT + 1])
    is_cut = max(len(datasets), len(runs), len(scorers), len(suites)) > LIMIT
    return SearchResults(datasets[:LIMIT], runs[:LIMIT], scorers[:LIMIT], suites[:LIMIT], is_cut)
