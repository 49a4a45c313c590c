"""The texts of a case in a run: how they are compared, and what each pane shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from evalsite.pages.cases.baseline_output import BETWEEN, BaselineOutput
from evalsite.pages.cases.display_options import INLINE, SIDE
from evalsite.pages.cases.texts.case_texts import CaseTexts, MarkdownText, render_value
from scoring.core.contract import Case as ScoredCase
from scoring.core.contract import Json
from scoring.core.explain.text_matches import (
    MarkedText,
    TextSearch,
    find_searches,
    has_extraction,
    has_text_search,
    mark_searches,
)
from scoring.core.textdiff.diff import Mode
from scoring.core.textdiff.json_diff import LeafRow, compare_paths
from scoring.core.textdiff.side_by_side import TextComparison, compare_third_text
from scoring.core.textdiff.text_layout import (
    TextLayout,
    display_text,
    find_structure,
    layout_text,
    normalize_structures,
    parse_for_display,
)
from scoring.models import Output, Run, RunScorer

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


class TextOptions(NamedTuple):
    """What the address says of the texts: `mode` and `between` are empty or unknown by default."""

    mode: str = ""
    between: str = ""
    layout: str = SIDE
    marks_space: bool = False


@dataclass
class ComparedTexts:
    """The texts of an output and its case, and of the case's output in the baseline if any."""

    run: Run
    output: Output
    scorers: Sequence[RunScorer]
    baseline: BaselineOutput | None
    options: TextOptions

    @cached_property
    def own(self) -> CaseTexts:
        """The texts of the case itself, whatever the run."""
        trial = f"&trial={self.output.trial}" if self.output.trial else ""
        baseline = f"&against={self.baseline.baseline.uuid}" if self.baseline else ""
        marks_space = self.options.marks_space
        return CaseTexts(self.output.case, trial + baseline, self.is_markdown, marks_space)

    @cached_property
    def whole(self) -> dict[str, str]:
        """The texts there are, by name. A missing or null one is not here; an empty text is."""
        output, other = self.output, self.baseline and self.baseline.output
        texts = dict(self.own.whole)
        if self.own.expected_value is None:
            texts.pop("expected", None)
        if output.text is not None:
            texts["output"] = display_text(_read_output(output))
        if other and other.text is not None:
            texts["baseline"] = display_text(_read_output(other))
        return texts | ({"error": output.error} if output.error else {})

    @cached_property
    def values(self) -> dict[str, Json]:
        """Expected value and outputs in the order of the page; None for one that is missing."""
        values: dict[str, Json] = {"expected": self.own.expected_value}
        if self.baseline:
            other = self.baseline.output
            values["baseline"] = _read_output(other) if other else None
        return values | {"output": _read_output(self.output)}

    # How they are compared.

    @cached_property
    def mode(self) -> str:
        """How the texts are compared, or shown where there is nothing to compare."""
        if self.options.mode in self.modes:
            return self.options.mode
        if self.is_extracting and self.baseline is None and self.can_show_matches:
            return MATCHES
        return "plain" if not self.is_comparable else "line" if self._json_layouts else "word"

    @cached_property
    def modes(self) -> dict[str, str]:
        """The modes to choose from, with their labels. JSON paths are for JSON texts alone."""
        modes = {m: label for m, label in MODES.items() if m != PATHS or self._json_layouts}
        compared = modes if self.is_comparable else {"plain": modes["plain"]}
        views = VIEWS if self.can_show_matches else {MARKDOWN: VIEWS[MARKDOWN]}
        return compared | views

    @property
    def is_markdown(self) -> bool:
        return self.options.mode == MARKDOWN

    @cached_property
    def between(self) -> str:
        """Which two texts are compared: those that the address names, else those there are."""
        if self.baseline is None:
            return "expected"
        named = [self.options.between] if self.options.between in BETWEEN else []
        present = [name for name in BETWEEN if all(map(self.whole.get, BETWEEN[name]))]
        return next(iter(named or present), "baseline")

    @cached_property
    def side_names(self) -> tuple[str, str]:
        """The names of the two compared texts; the second one shows what differs."""
        return BETWEEN[self.between]

    @cached_property
    def is_comparable(self) -> bool:
        return all(map(self.whole.get, self.side_names))

    @property
    def is_same(self) -> bool:
        """Whether the two compared texts say the same."""
        texts = self._json_layouts or self.whole
        return self.is_comparable and len({texts[side] for side in self.side_names}) == 1

    @cached_property
    def pair(self) -> TextComparison | None:
        """The difference of the two texts; None for a mode that shows none within the texts."""
        if self.mode not in _DIFFS:
            return None
        first, second = ((self.whole | self.as_json)[side] for side in self.side_names)
        return TextComparison(first, second, _DIFFS[self.mode])

    # As JSON.

    @cached_property
    def as_json(self) -> dict[str, str]:
        """The texts by name in a common JSON layout, where both compared texts are JSON."""
        return {} if self.mode in ("plain", *VIEWS) else self._json_layouts

    @cached_property
    def _json_layouts(self) -> dict[str, str]:
        parsed = self._parsed
        if not parsed.keys() >= set(self.side_names):
            return {}
        first, second = self.side_names
        layouts: dict[str, str] = {}
        for other in (second, *(name for name in parsed if name not in self.side_names)):
            both = normalize_structures(parsed[first], parsed[other])
            layouts |= dict(zip((first, other), both, strict=True))
        return layouts

    @cached_property
    def structures(self) -> dict[str, Json]:
        """The texts that are JSON objects or arrays, parsed; empty unless both sides are."""
        return self._parsed if self._json_layouts else {}

    @cached_property
    def _parsed(self) -> dict[str, Json]:
        parsed = {name: find_structure(value) for name, value in self.values.items()}
        return {name: value for name, value in parsed.items() if value is not None}

    @cached_property
    def path_rows(self) -> list[LeafRow]:
        """The values of all structures, path by path."""
        return compare_paths(list(self.structures.values()))

    def path_rows_of(self, names: Sequence[str]) -> list[LeafRow]:
        """The values of the structures of these names, path by path."""
        columns = [list(self.structures).index(name) for name in names]
        if columns == list(range(len(self.structures))):
            return self.path_rows
        return [
            LeafRow(path, tuple(leaves[column] for column in columns))
            for path, leaves in self.path_rows
        ]

    # What scorers look for in the output.

    @cached_property
    def can_show_matches(self) -> bool:
        """Whether there is an output, and a scorer that looks for something in it."""
        return self.output.text is not None and bool(self.searching)

    @cached_property
    def searching(self) -> set[str]:
        """The names of the scorers that look for texts or patterns."""
        return {
            scorer.name
            for scorer in self.scorers
            if has_text_search(scorer.version.type, scorer.version.config)
        }

    @cached_property
    def is_extracting(self) -> bool:
        """Whether some scorer compares only what it extracts from the output."""
        return any(has_extraction(scorer.version.config) for scorer in self.scorers)

    @cached_property
    def searches(self) -> list[TextSearch]:
        """What the scorers look for in the output."""
        versions = [(scorer.name, scorer.version) for scorer in self.scorers]
        return [
            search
            for name, version in versions
            for search in find_searches(name, version.type, version.config, self.scored_case)
        ]

    @property
    def searched(self) -> list[MarkedText]:
        """What is expected, marked or not, and each text that scorers search with its marks."""
        marked = mark_searches(self.searches)
        expected = [text for text in marked if text.side == "expected"]
        if not expected and "expected" in self.whole:
            expected = [MarkedText("expected", "", layout_text(self.whole["expected"]))]
        return [*expected, *(text for text in marked if text.side != "expected")]

    @cached_property
    def scored_case(self) -> ScoredCase:
        """The case with its output, as scorers take it."""
        case = self.output.case
        return ScoredCase(
            self.values["output"],
            self.own.expected_value,
            self.own.input_value,
            references=tuple(case.references),
            metadata=case.metadata,
        )

    # The panes.

    @property
    def is_inline(self) -> bool:
        return self.options.layout == INLINE

    @property
    def panes(self) -> list[str]:
        """The texts that have a pane of their own; inline the two compared ones share theirs."""
        names = ["expected", "baseline", "output"] if self.baseline else ["expected", "output"]
        in_one = self.side_names if self.is_inline and self.pair else ()
        return [name for name in names if name not in in_one]

    @property
    def titles(self) -> dict[str, str]:
        """The title of each text by its name."""
        if self.baseline is None:
            return {"expected": "Expected", "output": "Output"}
        runs = {"baseline": self.baseline.baseline.name, "output": self.run.name}
        return {"expected": "Expected", **runs}

    @property
    def compared_titles(self) -> list[str]:
        return [self.titles[side] for side in self.side_names]

    @property
    def expected_pane(self) -> TextLayout | MarkdownText:
        return self._pane("expected")

    @property
    def baseline_pane(self) -> TextLayout | MarkdownText:
        return self._pane("baseline")

    @property
    def output_pane(self) -> TextLayout | MarkdownText:
        return self._pane("output")

    @property
    def error(self) -> TextLayout | None:
        """Why there is no output; None where nothing says so."""
        return layout_text(self.whole["error"]) if "error" in self.whole else None

    def _pane(self, name: str) -> TextLayout | MarkdownText:
        """A text, with what differs from the other side where it is one of the two compared."""
        if self.is_markdown:
            return render_value(self.values[name], with_spaces=self.options.marks_space)
        text = self.as_json.get(name, self.whole[name])
        if self.pair is None:
            return layout_text(text)
        if name not in self.side_names:
            return compare_third_text(text, self.pair)
        return self.pair.before if name == self.side_names[0] else self.pair.after


def _read_output(output: Output) -> Json:
    """The value of the output; JSON too long to parse stays a text."""
    is_json = output.is_json and output.text is not None
    return parse_for_display(output.text or "") if is_json else output.text
