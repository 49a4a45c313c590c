"""Compared runs as a table, as Markdown and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from scoring.core.paired import RESAMPLES
from scoring.core.sentences import ALPHA, p_text
from scoring.engine.figures import Figures, ScorerFigures, Slice
from scoring.models import Run
from scoring.models.pair_rows import PairKind
from scoring.models.pairs import Pairs

HEAD: Final = (
    "scorer", "n", "baseline", "candidate", "change [95 %]", "p corrected", "up", "down",
    "broke", "fixed",
)  # fmt: skip
SLICES_HEAD: Final = ("tag", "scorer", "n", "change [95 %]", "q")
NAMED: Final = 20  # broken cases whose keys are told
METHODS: Final = {
    "exact": "every way to flip the signs of the differences",
    "resampled": f"{RESAMPLES:,} seeded resamples",
    "normal": "the normal interval, as there are many cases",
}


class Told(NamedTuple):
    """One candidate beside the baseline."""

    baseline: Run
    candidate: Run
    figures: Figures


def table(told: Told) -> str:
    """For a terminal: the whole in a sentence, warnings, a line per scorer, slices that moved."""
    parts = [[_title(told), told.figures.sentence, *_warnings(told.figures)]]
    parts += [_aligned(head, rows) for head, rows in _tables(told.figures)]
    parts += [_facts(told)]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def markdown(told: Told) -> str:
    """The same, for a pull request."""
    head = [f"### {_title(told)}", told.figures.sentence]
    tables = ["\n".join(_piped(head, rows)) for head, rows in _tables(told.figures)]
    notes = "\n".join(f"- {line}" for line in [*_warnings(told.figures), *_facts(told)])
    return "\n\n".join([*head, *tables, notes]) + "\n"


def as_json(figures: Figures) -> dict[str, Any]:
    """The figures in the shape of the API."""
    counts = ("pairs", "fixed", "broke", "unchanged", "unclear", "only_baseline", "only_candidate")
    return {
        "sentence": figures.sentence,
        "scorers": [_scorer_json(each) for each in figures.scorers],
        **{name: getattr(figures, name) for name in (*counts, "edited", "p")},
        "slices": [each.as_json() for each in figures.slices],
        "warnings": list(figures.warnings),
    }


def named(run: Run) -> dict[str, str]:
    return {"id": str(run.uuid), "name": run.name}


def _scorer_json(each: ScorerFigures) -> dict[str, Any]:
    kept = each.as_json()
    return {name: value for name, value in kept.items() if name not in {"histogram", "scatter"}}


def _title(told: Told) -> str:
    dataset = told.candidate.output_set.version.dataset
    return f"{dataset}: {told.candidate.name} compared with {told.baseline.name}"


def _warnings(figures: Figures) -> list[str]:
    return [f"note: {text}" for text in figures.warnings]


def _tables(figures: Figures) -> Iterator[tuple[Sequence[str], list[tuple[str, ...]]]]:
    if figures.scorers:
        yield HEAD, [_row(each) for each in figures.scorers]
    if moved := [each for each in figures.slices if each.q <= ALPHA]:
        yield SLICES_HEAD, [_slice_row(each) for each in moved]


def _row(each: ScorerFigures) -> tuple[str, ...]:
    before, after = (f"{mean:.3f}" for mean in each.means) if each.means else ("-", "-")
    p = "-" if each.p_corrected is None else p_text(each.p_corrected).removeprefix("p = ")
    counts = (each.improved, each.regressed, each.flips.broke, each.flips.fixed)
    change = _change(each.delta, each.interval)
    return (each.name, f"{each.n:,}", before, after, change, p, *(f"{n:,}" for n in counts))


def _slice_row(each: Slice) -> tuple[str, ...]:
    q = p_text(each.q).removeprefix("p = ").removeprefix("p ")
    return (each.tag, each.scorer, f"{each.n:,}", _change(each.delta, each.interval), q)


def _change(delta: float | None, interval: tuple[float, float] | None) -> str:
    if delta is None:
        return "-"
    return f"{delta:+.3f}" + (f" [{interval[0]:+.3f}, {interval[1]:+.3f}]" if interval else "")


def _facts(told: Told) -> list[str]:
    figures = told.figures
    counts = [
        f"{getattr(figures, kind.value):,} {kind.label}"
        for kind in PairKind
        if kind != PairKind.PAIRS
        and (getattr(figures, kind.value) or kind in (PairKind.BROKE, PairKind.FIXED))
    ]
    facts = [each.sentence for each in figures.scorers]
    methods = dict.fromkeys(METHODS[each.method] for each in figures.scorers if each.n > 1)
    if methods:
        facts.append(f"intervals and p: {'; '.join(methods)}")
    return [*facts, f"cases: {', '.join(counts)}", *_broken(told)]


def _broken(told: Told) -> Iterator[str]:
    if told.figures.broke:
        pairs = Pairs(told.baseline, told.candidate)
        rows = pairs.page(PairKind.BROKE, size=NAMED).rows
        keys = [f"{row.key} (trial {row.place.trial})" if row.place.trial else row.key
                for row in rows]  # fmt: skip
        more = told.figures.broke - len(rows)
        yield f"broke: {', '.join(keys)}{f' and {more:,} more' if more else ''}"


def _aligned(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in (head, *rows)
    ]


def _piped(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [head, ("---",) * len(head), *rows]
    return [f"| {' | '.join(cell.replace('|', '&#124;') for cell in row)} |" for row in lines]
