"""Filters of a run's cases."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from scoring.models.case_list.label_filter import LabelFilter
from scoring.models.reviews.people_verdict import PeopleFilter
from scoring.models.runs.run import RunScorer
from scoring.models.runs.score import Verdict

if TYPE_CHECKING:
    from scoring.models.case_list.change_filter import ChangeFilter  # which joins whole runs


class Part(StrEnum):
    """What can be asked of a case, each by itself."""

    PLACES = "places"
    VERDICT = "verdict"
    SCORES = "scores"
    CHANGE = "change"
    REVIEWED = "reviewed"
    PEOPLE = "people"
    UNSTEADY = "unsteady"
    LABELLED = "labelled"
    TAG = "tag"
    TEXT = "text"


@dataclass(frozen=True)
class CaseFilters:
    """What is asked of a case; it must meet everything.

    With a `scorer`, `verdict` is that scorer's, else the case's. `minimum`, `maximum` (both
    included), `below` (excluded) and `code` speak of the scorer's row and need one. `unsteady`
    cases are those of which some trials pass and others fail, by the scorer where there is one.
    `change` is that of the case's verdict, `reviewed` whether anybody has reviewed the output,
    `people` what they say of it.
    `places` are single cases, each a position with a trial; without any, every case may pass.
    `labelled` are the cases of a cell of a confusion matrix.
    """

    verdict: Verdict | None = None
    scorer: RunScorer | None = None
    minimum: float | None = None
    maximum: float | None = None
    below: float | None = None
    code: str = ""
    tag: str = ""
    text: str = ""
    unsteady: bool = False
    change: ChangeFilter | None = None
    reviewed: bool | None = None
    people: PeopleFilter | None = None
    places: frozenset[tuple[int, int]] = frozenset()
    labelled: LabelFilter | None = None

    @property
    def case_verdict(self) -> Verdict | None:
        return None if self.scorer else self.verdict

    @property
    def asks_scores(self) -> bool:
        asked = (self.verdict, self.minimum, self.maximum, self.below, self.code or None)
        return self.scorer is not None and any(part is not None for part in asked)

    @property
    def reads_texts(self) -> bool:
        return bool(self.text or self.tag)

    @property
    def parts(self) -> frozenset[Part]:
        """What is asked."""
        asked = {
            Part.PLACES: bool(self.places),
            Part.VERDICT: self.case_verdict is not None,
            Part.SCORES: self.asks_scores,
            Part.CHANGE: self.change is not None,
            Part.REVIEWED: self.reviewed is not None,
            Part.PEOPLE: self.people is not None,
            Part.UNSTEADY: self.unsteady,
            Part.LABELLED: self.labelled is not None,
            Part.TAG: bool(self.tag),
            Part.TEXT: bool(self.text),
        }
        return frozenset(part for part, is_asked in asked.items() if is_asked)

    @property
    def tells_verdicts(self) -> bool:
        """Whether it says something of a case's verdicts or scores that it passes."""
        return not self.parts <= {Part.PLACES, Part.REVIEWED, Part.TAG, Part.TEXT}

    @property
    def is_verdict_alone(self) -> bool:
        """Whether nothing is asked but the case's verdict."""
        return self.parts == {Part.VERDICT}


NO_FILTERS: Final = CaseFilters()
