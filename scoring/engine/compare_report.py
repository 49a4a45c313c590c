"""Compared runs as a table, as Markdown and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from scoring.core.number_text import change_text, number_text, typeable
from scoring.core.sentences import ALPHA, chance_text, size_text
from scoring.engine.figures import Figures, ScorerFigures, Slice
from scoring.models import Run
from scoring.models.pair_rows import PairKind
from scoring.models.pairs import Pairs

HEAD: Final = (
    "scorer", "n", "baseline", "candidate", "change [95 %]", "p", "p corr.", "detect.",
    "up", "down", "broke", "fixed", "p flips",
)  # fmt: skip
ALL_HEAD: Final = ("run", "pairs", "broke", "fixed", "unclear", "only in one")
SLICES_HEAD: Final = ("tag", "scorer", "n", "change [95 %]", "q")
NAMED: Final = 20  # cases of a list whose keys are told


class Told(NamedTuple):
    """One candidate beside the baseline."""

    baseline: Run
    candidate: Run
    figures: Figures


def tables(found: Sequence[Told]) -> str:
    """For a terminal: of several candidates a line each, then each one's part."""
    parts = ["\n".join([_all_title(found), "", *_aligned(ALL_HEAD, _all_rows(found))]) + "\n"]
    return "\n".join([*(parts if len(found) > 1 else []), *map(table, found)])


def markdowns(found: Sequence[Told]) -> str:
    """The same, for a pull request."""
    parts = [f"### {_all_title(found)}\n\n" + "\n".join(_piped(ALL_HEAD, _all_rows(found))) + "\n"]
    return "\n".join([*(parts if len(found) > 1 else []), *map(markdown, found)])


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
    counts = ("pairs", "fixed", "broke", "unchanged", "unclear", "judged_in_neither")
    alone = ("only_baseline", "only_candidate")
    return {
        "sentence": figures.sentence,
        "scorers": [_scorer_json(each) for each in figures.scorers],
        **{name: getattr(figures, name) for name in (*counts, *alone, "edited", "p")},
        "slices": [each.as_json() for each in figures.slices],
        "warnings": list(figures.warnings),
    }


def named(run: Run) -> dict[str, str]:
    return {"id": str(run.uuid), "name": run.name}


def _scorer_json(each: ScorerFigures) -> dict[str, Any]:
    kept = each.as_json()
    return {name: value for name, value in kept.items() if name not in {"histogram", "scatter"}}


def _all_title(found: Sequence[Told]) -> str:
    baseline = found[0].baseline
    dataset = baseline.output_set.version.dataset
    return f"{dataset}: {len(found)} runs beside {baseline.name}"


def _all_rows(found: Sequence[Told]) -> list[tuple[str, ...]]:
    counted = [
        (of.pairs, of.broke, of.fixed, of.unclear, of.only_baseline + of.only_candidate)
        for of in (told.figures for told in found)
    ]
    return [
        (told.candidate.name, *(f"{count:,}" for count in counts))
        for told, counts in zip(found, counted, strict=True)
    ]


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
    before, after = (number_text(mean, 3) for mean in each.means) if each.means else ("-", "-")
    detectable = "-" if each.detectable is None else size_text(each.detectable)
    counts = (each.improved, each.regressed, each.flips.broke, each.flips.fixed)
    return (
        *(each.name, f"{each.n:,}", before, after, _change(each.delta, each.interval)),
        *(_p(each.p), _p(each.p_corrected), detectable),
        *(f"{count:,}" for count in counts),
        _p(each.flips.p_corrected),
    )


def _slice_row(each: Slice) -> tuple[str, ...]:
    return (each.tag, each.scorer, f"{each.n:,}", _change(each.delta, each.interval), _p(each.q))


def _p(p: float | None) -> str:
    """Without blanks, so that columns stay narrow: 0.031, <0.001."""
    return "-" if p is None else chance_text(p).replace(" ", "")


def _change(delta: float | None, interval: tuple[float, float] | None) -> str:
    if delta is None:
        return "-"
    low_high = f" [{', '.join(map(change_text, interval))}]" if interval else ""
    return typeable(change_text(delta) + low_high)


def _facts(told: Told) -> list[str]:
    figures = told.figures
    counts = [
        f"{getattr(figures, kind.value):,} {kind.label}"
        for kind in PairKind
        if kind != PairKind.PAIRS
        and (getattr(figures, kind.value) or kind in (PairKind.BROKE, PairKind.FIXED))
    ]
    facts = [each.sentence for each in figures.scorers]
    facts += [f"intervals and p of {names}: {words}" for words, names in figures.methods()]
    return [*facts, f"cases: {', '.join(counts)}", *_flipped(told)]


def _flipped(told: Told) -> Iterator[str]:
    """The first cases that broke and that were fixed, by their keys."""
    pairs = Pairs(told.baseline, told.candidate)
    for kind in (PairKind.BROKE, PairKind.FIXED):
        if count := int(getattr(told.figures, kind.value)):
            rows = pairs.page(kind, size=NAMED).rows
            keys = [f"{row.key} (trial {row.place.trial})" if row.place.trial else row.key
                    for row in rows]  # fmt: skip
            more = count - len(rows)
            yield f"{kind.label}: {', '.join(keys)}{f' and {more:,} more' if more else ''}"


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
