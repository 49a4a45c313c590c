"""What the page of one case shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Final, NamedTuple

from evalsite import access
from evalsite.pages.case.beside import BETWEEN, Beside, ScorePair, score_pairs
from evalsite.pages.case.edits import Edit, edits_of
from evalsite.pages.case.history import History
from evalsite.pages.case.leaves import Leaves, leaves_of, without
from evalsite.pages.case.paths import USUAL, PathTable, path_table
from evalsite.pages.case.rows import Room
from evalsite.pages.case.switches import INLINE, SIDE
from evalsite.pages.case.texts import CaseTexts, Rendered, rendered
from scoring.core.contract import Case as ScoredCase
from scoring.core.contract import Json
from scoring.core.diff import Mode
from scoring.core.explain import Explanation, explain
from scoring.core.json_changes import PathRow, path_rows
from scoring.core.matches import Search, Searched, searched, searches, searches_texts
from scoring.core.shown import Shown, laid_out_alike, readable, shown, structure, written
from scoring.core.sides import Sides, beside
from scoring.engine.absence import absence
from scoring.models import CaseVerdict, ModelCall, Output, Run, RunScorer, Score

PATHS: Final = "path"
MODES: Final[dict[str, str]] = {
    "plain": "as it is",
    "word": "words",
    "char": "characters",
    "line": "lines",
    PATHS: "JSON paths",
}
MARKDOWN: Final = "markdown"
MATCHES: Final = "matches"
VIEWS: Final[dict[str, str]] = {MARKDOWN: "Markdown", MATCHES: "matches"}
_DIFFS: Final[dict[str, Mode]] = {"word": "word", "char": "char", "line": "line"}


class Why(NamedTuple):
    """One scorer's answer, None where it has not scored yet, and what led to it."""

    scorer: RunScorer
    score: Score | None
    explanation: Explanation | None


@dataclass
class CaseView:
    """An output of a run with its case. `asked` is the wanted way to compare the texts.

    With the case in another run `beside` it, `asked_between` says which two texts to compare.
    """

    run: Run
    output: Output
    scorers: Sequence[RunScorer]
    asked: str
    beside: Beside | None = None
    asked_between: str = ""
    layout: str = SIDE
    room: Room = USUAL
    marks_space: bool = False

    @cached_property
    def own(self) -> CaseTexts:
        """What the case holds, whatever the run."""
        trial = self.output.trial
        rest = f"&trial={trial}" if trial else ""
        against = f"&against={self.beside.baseline.uuid}" if self.beside else ""
        return CaseTexts(self.output.case, rest + against, self.is_markdown, self.marks_space)

    @cached_property
    def texts(self) -> dict[str, str]:
        """The texts there are, by name. What is absent or null is not here; an empty text is."""
        output = self.output
        texts = dict(self.own.whole)
        if self.own.expected_value is None:
            texts.pop("expected", None)
        if output.text is not None:
            texts["output"] = written(_read(output))
        other = self.beside.output if self.beside else None
        if other and other.text is not None:
            texts["baseline"] = written(_read(other))
        return texts | ({"error": output.error} if output.error else {})

    @cached_property
    def edits(self) -> list[Edit]:
        """What of the case differs from that of the run beside, over another dataset version."""
        other = self.beside.output if self.beside else None
        return edits_of(other.case, self.output.case) if other else []

    @cached_property
    def absence(self) -> str:
        """Why the run beside has no output of the case; only where it has none."""
        if self.beside is None or self.beside.output:
            return ""
        return absence(self.beside.baseline, self.output.case.key, self.output.trial)

    @cached_property
    def mode(self) -> str:
        """How the texts are compared, or shown where there is nothing to compare."""
        usual = "plain" if not self.is_comparable else "line" if self._alike else "word"
        return self.asked if self.asked in self.modes else usual

    @cached_property
    def modes(self) -> dict[str, str]:
        """The ways to compare the texts and to show them; by JSON paths only what holds them."""
        modes = {mode: label for mode, label in MODES.items() if mode != PATHS or self._alike}
        compared = modes if self.is_comparable else {"plain": modes["plain"]}
        views = {MARKDOWN} | ({MATCHES} if self.can_show_matches else set())
        return compared | {view: label for view, label in VIEWS.items() if view in views}

    @property
    def is_markdown(self) -> bool:
        return self.asked == MARKDOWN

    @cached_property
    def can_show_matches(self) -> bool:
        """Whether there is an output, and a scorer that looks for something in it."""
        return self.output.text is not None and bool(self.searching)

    @cached_property
    def searching(self) -> set[str]:
        """The names of the scorers that look for texts or patterns."""
        versions = ((scorer.name, scorer.version) for scorer in self.scorers)
        return {name for name, each in versions if searches_texts(each.type, each.config)}

    @cached_property
    def searches(self) -> list[Search]:
        """What the scorers looked for in the output."""
        versions = ((scorer.name, scorer.version) for scorer in self.scorers)
        found = (
            searches(name, each.type, each.config, self._scored_case) for name, each in versions
        )
        return [search for each in found for search in each]

    @property
    def searched(self) -> list[Searched]:
        """Each text that was searched, with what was found."""
        return searched(self.searches)

    @cached_property
    def between(self) -> str:
        """Which two texts are compared: those asked for, else those that are there."""
        if self.beside is None:
            return "expected"
        asked = [self.asked_between] if self.asked_between in BETWEEN else []
        there = [name for name in BETWEEN if all(map(self.texts.get, BETWEEN[name]))]
        return next(iter(asked or there), "baseline")

    @cached_property
    def sides(self) -> tuple[str, str]:
        """The names of the two texts; the second one shows what differs."""
        return BETWEEN[self.between]

    @cached_property
    def is_comparable(self) -> bool:
        return all(map(self.texts.get, self.sides))

    @property
    def is_same(self) -> bool:
        """Whether the two texts that are compared say the same."""
        texts = self._alike or self.texts
        return self.is_comparable and len({texts[side] for side in self.sides}) == 1

    @cached_property
    def as_json(self) -> dict[str, str]:
        """The texts by name that are written alike, where those to be compared are both JSON."""
        return {} if self.mode in ("plain", *VIEWS) else self._alike

    @cached_property
    def _alike(self) -> dict[str, str]:
        read = self._structures_read
        if not read.keys() >= set(self.sides):
            return {}
        first, second = self.sides
        found: dict[str, str] = {}
        for other in (second, *(name for name in read if name not in self.sides)):
            both = laid_out_alike(read[first], read[other])
            found |= dict(zip((first, other), both, strict=True))
        return found

    @cached_property
    def _values(self) -> dict[str, Json]:
        """Expected value and outputs, None where there is none, in the order of the page."""
        other = self.beside.output if self.beside else None
        beside = {"baseline": _read(other) if other else None} if self.beside else {}
        return {"expected": self.own.expected_value, **beside, "output": _read(self.output)}

    @property
    def paths(self) -> PathTable:
        """The texts as JSON, path by path, with what the leaves scored."""
        names = list(self._structures)
        return path_table(names, self._rows_of(names), self.sides, self.leaves, self.room)

    scored_sides: ClassVar = ("expected", "output")

    @property
    def leaf_paths(self) -> PathTable:
        """The same of the two texts that were scored."""
        names = self.scored_sides
        return path_table(names, self._rows_of(names), names, self.leaves, self.room)

    def _rows_of(self, names: Sequence[str]) -> list[PathRow]:
        """What these of the texts have at each path."""
        places = [list(self._structures).index(name) for name in names]
        if places == list(range(len(self._structures))):
            return self._rows
        return [
            PathRow(path, tuple(leaves[place] for place in places)) for path, leaves in self._rows
        ]

    @cached_property
    def _rows(self) -> list[PathRow]:
        return path_rows(list(self._structures.values()))

    @cached_property
    def _structures(self) -> dict[str, Json]:
        return self._structures_read if self._alike else {}

    @cached_property
    def _structures_read(self) -> dict[str, Json]:
        """The texts that are JSON objects or arrays, as such."""
        read = {name: structure(value) for name, value in self._values.items()}
        return {name: value for name, value in read.items() if value is not None}

    @cached_property
    def leaves(self) -> list[Leaves]:
        """What leaves scored, as far as all those of a scorer have a path in the texts."""
        if not {"expected", "output"} <= set(self._structures):
            return []
        output = self._structures["output"]
        place = list(self._structures).index("expected")
        wanted = {path: leaves[place] for path, leaves in self._rows}
        return [
            each
            for why in self._all_of_why
            if why.explanation
            for each in leaves_of(why.scorer.name, why.explanation, output, wanted)
        ]

    @property
    def expected(self) -> Shown | Rendered:
        return self._pane("expected")

    @property
    def earlier(self) -> Shown | Rendered:
        """The baseline's output."""
        return self._pane("baseline")

    @property
    def answer(self) -> Shown | Rendered:
        return self._pane("output")

    @cached_property
    def pair(self) -> Sides | None:
        """The two texts that are compared, unless they are shown as they are or by paths."""
        if self.mode not in _DIFFS:
            return None
        first, second = ((self.texts | self.as_json)[side] for side in self.sides)
        return Sides(first, second, _DIFFS[self.mode])

    @property
    def is_inline(self) -> bool:
        return self.layout == INLINE

    @property
    def apart(self) -> list[str]:
        """The texts that have a pane of their own; inline the two compared ones share theirs."""
        names = ["expected", "baseline", "output"] if self.beside else ["expected", "output"]
        in_one = self.sides if self.is_inline and self.pair else ()
        return [name for name in names if name not in in_one]

    @property
    def titles(self) -> dict[str, str]:
        """What each text is called."""
        if self.beside is None:
            return {"expected": "Expected", "output": "Output"}
        runs = {"baseline": self.beside.baseline.name, "output": self.run.name}
        return {"expected": "Expected", **runs}

    @property
    def both_titles(self) -> list[str]:
        return [self.titles[side] for side in self.sides]

    def _pane(self, name: str) -> Shown | Rendered:
        """A text, with what differs from the other side where it is one of the two compared."""
        if self.is_markdown:
            return rendered(self._values[name], with_spaces=self.marks_space)
        text = self.as_json.get(name, self.texts[name])
        if self.pair is None:
            return shown(text)
        if name not in self.sides:
            return beside(text, self.pair)
        return self.pair.before if name == self.sides[0] else self.pair.after

    @property
    def failure(self) -> Shown | None:
        """Why there is no output, where that was said."""
        return shown(self.texts["error"]) if "error" in self.texts else None

    @cached_property
    def history(self) -> History:
        return History(self.run, self.output.case.key, self.output.trial)

    @cached_property
    def verdict(self) -> str | None:
        """The case's verdict by name; None until it is scored."""
        if told := self.history.verdict:
            return told
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
        """Each scorer's answer, in the run's order, without leaves that the table of paths has."""
        joined = {each.scorer for each in self.leaves}
        return [
            why._replace(
                explanation=why.explanation and without(joined, why.scorer.name, why.explanation)
            )
            for why in self._all_of_why
        ]

    @cached_property
    def _all_of_why(self) -> list[Why]:
        scores = self._scores[self.run.pk]
        return [self._why(scorer, scores.get(scorer.name)) for scorer in self.scorers]

    @cached_property
    def score_pairs(self) -> list[ScorePair]:
        """Each scorer's answers in both runs; only with a run beside."""
        if self.beside is None:
            return []
        before, after = (self._scores[run.pk] for run in (self.beside.baseline, self.run))
        return score_pairs(self.scorers, before, after)

    @cached_property
    def _scores(self) -> dict[int, dict[str, Score]]:
        """By run and scorer, of this run and of the one beside it; one query."""
        other = self.beside
        outputs = [self.output, *([other.output] if other and other.output else [])]
        runs = [self.run, *([other.baseline] if other else [])]
        found: dict[int, dict[str, Score]] = {run.pk: {} for run in runs}
        scores = Score.objects.filter(scorer__run__in=runs, output__in=outputs)
        for score in scores.select_related("scorer").order_by("scorer__position"):
            found[score.scorer.run_id][score.scorer.name] = score
        return found

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
            self._values["output"],
            self.own.expected_value,
            self.own.input_value,
            references=tuple(case.references),
            metadata=case.metadata,
        )


def _read(output: Output) -> Json:
    """What was answered; long JSON as the text that it is."""
    is_json = output.is_json and output.text is not None
    return readable(output.text or "") if is_json else output.text


def _refs(explanation: Explanation) -> Iterator[str]:
    """The names of the replies that a judge gave, in any part of a combination."""
    if explanation.judgement:
        yield from explanation.judgement.refs
    for child in explanation.children:
        yield from _refs(child.explanation)
