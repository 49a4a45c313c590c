"""The figures of two compared runs, and how they are kept as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, NamedTuple, Self

from scoring.core.stats.descriptive import Interval
from scoring.core.stats.paired_tests import RESAMPLES, Method
from scoring.core.wording.comparison import ALPHA, UnjudgedCases

SHAPE: Final = 11  # raised when what is kept changes, so that it is worked out again
GRID: Final = 25  # cells of the scatter along each axis
DELTA_BINS: Final = 21  # of the changes of scores, the middle one around no change
METHODS: Final[Mapping[Method, str]] = {
    "exact": "every sign flip counted, bootstrap interval",
    "resampled": f"{RESAMPLES:,} seeded sign flips, bootstrap interval",
    "counted": "every sign flip counted, normal interval",
    "normal": "normal interval, Student's t",
}


class Cell(NamedTuple):
    """Cases whose scores lie in one cell of the scatter, and where one of them stands.

    `x` counts cells by the baseline's score, `y` by the candidate's, from 0.
    """

    x: int
    y: int
    cases: int
    position: int
    trial: int


@dataclass(frozen=True)
class FlipFigures:
    """Verdicts of one scorer that changed among `n` cases that it judged in both runs.

    Where cases have several trials, `p` is that of the share of these that pass.
    """

    n: int
    broke: int
    fixed: int
    p: float | None
    p_corrected: float | None = None


@dataclass(frozen=True)
class ScorerFigures:
    """One scorer, matched by name. Differences are candidate minus baseline.

    `n` counts the cases with a score in both runs; where they have several trials, the mean over
    them is a case's score in each run. `noise` is the half-width of the judge's own band, None
    where not known. `is_one_claim`: every score is the verdict, 1 or 0, so that mean and flips are
    tested as one. What has a default comes with the correction of all claims, see `Figures`.
    """

    name: str
    versions: tuple[int, int]
    thresholds: tuple[float, float]
    n: int
    means: tuple[float, float] | None
    delta: float | None
    interval: Interval | None
    p: float | None
    standard_error: float | None
    is_one_claim: bool
    method: Method
    improved: int
    regressed: int
    flips: FlipFigures
    noise: float | None
    histogram: tuple[int, ...]
    scatter: tuple[Cell, ...]
    p_corrected: float | None = None
    detectable: float | None = None
    sentence: str = ""

    @classmethod
    def read(cls, kept: Mapping[str, Any]) -> Self:
        """From what JSON made of it."""
        pairs = ("versions", "thresholds", "means", "interval")
        return cls(
            **{
                **kept,
                **{name: tuple(kept[name]) if kept[name] else None for name in pairs},
                "flips": FlipFigures(**kept["flips"]),
                "histogram": tuple(kept["histogram"]),
                "scatter": tuple(Cell(*cell) for cell in kept["scatter"]),
            }
        )


@dataclass(frozen=True)
class Slice:
    """One scorer over the cases with a tag.

    `q` is p corrected over the pair's slices, and `q_corrected` for the other claims, too: only
    that tells whether the slice changed.
    """

    tag: str
    scorer: str
    n: int
    delta: float
    interval: Interval | None
    p: float
    q: float
    method: Method
    q_corrected: float = 1.0

    @property
    def is_significant(self) -> bool:
        return self.q_corrected <= ALPHA

    @classmethod
    def read(cls, kept: Mapping[str, Any]) -> Self:
        interval = tuple(kept["interval"]) if kept["interval"] else None
        return cls(**{**kept, "interval": interval})


@dataclass(frozen=True)
class GateFigures:
    """What gates ask of two runs beyond the counts.

    `alone` counts cases of both dataset versions with an output in one run only. `cases`, `change`
    and `discordance` are `n` and the figures of a `FlipTest`, `unstable` the positions of its
    listed cases. `trials` is how many a case has: of both runs the harmonic mean.
    """

    alone: int = 0
    cases: int = 0
    change: float = 0.0
    discordance: float = 0.0
    trials: float = 0.0
    unstable: tuple[int, ...] = ()
    unstable_count: int = 0

    @classmethod
    def read(cls, kept: Mapping[str, Any]) -> Self:
        return cls(**{**kept, "unstable": tuple(kept["unstable"])})


@dataclass(frozen=True)
class Figures:
    """What became of the cases from one run to another; counts as `Counts` in models.pairs.

    Kept is what was counted and tested. Every claim that rests on it is corrected when it is read,
    together with the claims that it is shown with (`scoring.engine.compare.claims`): what has a
    default comes with that. `claims` is how many were corrected together.
    """

    pairs: int
    judged: int
    broke: int
    fixed: int
    unchanged: int
    unclear: int
    judged_in_neither: int
    only_baseline: int
    only_candidate: int
    edited: int
    unjudged: UnjudgedCases
    p: float | None
    has_one_scorer: bool
    scorers: tuple[ScorerFigures, ...]
    slices: tuple[Slice, ...]
    warnings: tuple[str, ...]
    gate: GateFigures = GateFigures()
    p_corrected: float | None = None
    slices_p_corrected: float | None = None
    claims: int = 0
    sentence: str = ""

    @property
    def has_trials(self) -> bool:
        """Whether cases of either run have several trials."""
        return self.gate.trials > 1

    @property
    def changed_slices(self) -> list[Slice]:
        """Those that may be named, the least likely to be chance first."""
        return [each for each in self.ranked_slices() if each.is_significant]

    def ranked_slices(self) -> list[Slice]:
        """The least likely to be chance first."""
        return sorted(self.slices, key=lambda each: (each.q, each.p, each.tag))

    def methods(self) -> Iterator[tuple[str, str]]:
        """How intervals and p were found, in words, each with the scorers it was used for."""
        for method, words in METHODS.items():
            names = [each.name for each in self.scorers if each.method == method and each.n > 1]
            if names:
                yield words, ", ".join(names)

    def as_json(self) -> dict[str, Any]:
        return {"shape": SHAPE, **asdict(self)}

    @classmethod
    def read(cls, kept: Mapping[str, Any]) -> Self:
        """From a comparison's figures; those of another shape are not to be read."""
        return cls(
            **{
                **{name: value for name, value in kept.items() if name != "shape"},
                "scorers": tuple(ScorerFigures.read(each) for each in kept["scorers"]),
                "slices": tuple(Slice.read(each) for each in kept["slices"]),
                "warnings": tuple(kept["warnings"]),
                "unjudged": UnjudgedCases(*kept["unjudged"]),
                "gate": GateFigures.read(kept["gate"]),
            }
        )
