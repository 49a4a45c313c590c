"""What the page of one case shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from evalsite import access
from evalsite.pages.case_texts import CaseTexts, Shown, compared, shown, written, written_alike
from scoring.core.contract import Case as ScoredCase
from scoring.core.diff import Mode
from scoring.core.explain import Explanation, explain
from scoring.models import CaseVerdict, ModelCall, Output, Run, RunScorer, Score

MODES: Final[dict[str, str]] = {
    "plain": "as it is",
    "word": "words",
    "char": "characters",
    "line": "lines",
}
_DIFFS: Final[dict[str, Mode]] = {"word": "word", "char": "char", "line": "line"}


class Why(NamedTuple):
    """One scorer's answer, None where it has not scored yet, and what led to it."""

    scorer: RunScorer
    score: Score | None
    explanation: Explanation | None


@dataclass
class CaseView:
    """An output of a run with its case. `asked` is the wanted way to compare the texts."""

    run: Run
    output: Output
    scorers: Sequence[RunScorer]
    asked: str

    @cached_property
    def own(self) -> CaseTexts:
        """What the case holds, whatever the run."""
        trial = self.output.trial
        return CaseTexts(self.output.case, f"&trial={trial}" if trial else "")

    @cached_property
    def texts(self) -> dict[str, str]:
        """The texts there are, by name. What is absent is not here; an empty text is."""
        output = self.output
        texts = dict(self.own.whole)
        if output.text is not None:
            texts["output"] = written(output.value)
        return texts | ({"error": output.error} if output.error else {})

    @property
    def mode(self) -> str:
        """How output and expected are compared; `plain` where there is nothing to compare."""
        if not self.is_comparable:
            return "plain"
        usual = "line" if self._alike else "word"
        return self.asked if self.asked in MODES else usual

    @property
    def is_comparable(self) -> bool:
        return bool(self.texts.get("expected")) and bool(self.texts.get("output"))

    @property
    def as_json(self) -> tuple[str, str] | None:
        """Expected and output written alike, where both are JSON and are to be compared."""
        return None if self.mode == "plain" else self._alike

    @cached_property
    def _alike(self) -> tuple[str, str] | None:
        return written_alike(self.output.case.expected, self.output.value)

    @property
    def expected(self) -> Shown:
        return shown(self.as_json[0] if self.as_json else self.texts["expected"])

    @property
    def answer(self) -> Shown:
        """The output, with what differs from expected unless it is shown as it is."""
        if self.mode == "plain":
            return shown(self.texts["output"])
        expected, output = self.as_json or (self.texts["expected"], self.texts["output"])
        return compared(expected, output, _DIFFS[self.mode])

    @property
    def failure(self) -> Shown | None:
        """Why there is no output, where that was said."""
        return shown(self.texts["error"]) if "error" in self.texts else None

    @cached_property
    def verdict(self) -> str | None:
        """The case's verdict by name; None until it is scored."""
        found = CaseVerdict.objects.filter(
            run=self.run, position=self.output.case.position, trial=self.output.trial
        ).first()
        return found.get_verdict_display() if found else None

    @cached_property
    def replies(self) -> dict[str, ModelCall]:
        """The kept replies of models that the scores rest on, by their names."""
        found = [why.explanation for why in self.why if why.explanation]
        return access.replies_of(self.run, [ref for each in found for ref in _refs(each)])

    @cached_property
    def why(self) -> list[Why]:
        """Each scorer's answer, in the run's order."""
        ids = [scorer.pk for scorer in self.scorers]
        found = Score.objects.filter(scorer__in=ids, output=self.output)
        scores = {score.scorer_id: score for score in found}
        return [self._why(scorer, scores.get(scorer.pk)) for scorer in self.scorers]

    def _why(self, scorer: RunScorer, score: Score | None) -> Why:
        if score is None:
            return Why(scorer, None, None)
        version, case = scorer.version, self._scored_case
        why = explain(version.type, version.config, scorer.threshold, case, score.result)
        if self.output.text is None:  # the error stands with the output, once for all scorers
            why = why._replace(found=())
        return Why(scorer, score, why)

    @cached_property
    def _scored_case(self) -> ScoredCase:
        case = self.output.case
        return ScoredCase(
            self.output.value,
            case.expected,
            case.input,
            references=tuple(case.references),
            metadata=case.metadata,
        )


def _refs(explanation: Explanation) -> Iterator[str]:
    """The names of the replies that a judge gave, in any part of a combination."""
    if explanation.judgement:
        yield from explanation.judgement.refs
    for child in explanation.children:
        yield from _refs(child.explanation)
