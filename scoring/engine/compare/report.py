"""Compared runs as a table, as Markdown and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, Final, NamedTuple

from scoring.core.wording.comparison import chance_text, size_text
from scoring.core.wording.numbers import change_text, number_text, to_ascii
from scoring.core.wording.tables import NO_FIGURE, align_columns, markdown_table
from scoring.engine.compare.figures import Figures, ScorerFigures, Slice
from scoring.models import Relabel, Run
from scoring.models.pairs.pairs import Pairs
from scoring.models.pairs.rows import PairKind
from scoring.models.runs.relabel import describe_relabel

HEAD: Final = (
    "scorer", "n", "baseline", "candidate", "change [95 %]", "p", "p corr.", "detect.",
    "up", "down", "broke", "fixed", "p flips",
)  # fmt: skip
SUMMARY_HEAD: Final = ("run", "pairs", "broke", "fixed", "inconclusive", "only in one")
SLICES_HEAD: Final = ("tag", "scorer", "n", "change [95 %]", "q corr.")
NOT_IN_JSON: Final = {"histogram", "scatter", "standard_error", "is_one_claim"}
MAX_NAMED: Final = 20  # cases of a list that are named by their keys


class ComparedRun(NamedTuple):
    """One candidate beside the baseline."""

    baseline: Run
    candidate: Run
    figures: Figures


def as_tables(runs: Sequence[ComparedRun]) -> str:
    """For a terminal: of several candidates a line each, then each one's part."""
    summary = "\n".join([_summary_title(runs), "", *align_columns(_summary_rows(runs))]) + "\n"
    return "\n".join([*([summary] if len(runs) > 1 else []), *map(as_table, runs)])


def as_markdowns(runs: Sequence[ComparedRun]) -> str:
    """The same, for a pull request."""
    rows = "\n".join(markdown_table(_summary_rows(runs)))
    summary = f"### {_summary_title(runs)}\n\n{rows}\n"
    return "\n".join([*([summary] if len(runs) > 1 else []), *map(as_markdown, runs)])


def as_table(run: ComparedRun) -> str:
    """For a terminal: the whole in a sentence, warnings, a line per scorer, slices that moved."""
    parts = [[_title(run), run.figures.sentence, *_warnings(run)]]
    parts += [align_columns(rows) for rows in _tables(run.figures)]
    parts += [_facts(run)]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def as_markdown(run: ComparedRun) -> str:
    """The same, for a pull request."""
    head = [f"### {_title(run)}", run.figures.sentence]
    tables = ["\n".join(markdown_table(rows)) for rows in _tables(run.figures)]
    notes = "\n".join(f"- {line}" for line in [*_warnings(run), *_facts(run)])
    return "\n\n".join([*head, *tables, notes]) + "\n"


def as_json(figures: Figures) -> dict[str, Any]:
    """The figures in the shape of the API."""
    counts = ("pairs", "fixed", "broke", "unchanged", "unclear", "judged_in_neither")
    alone = ("only_baseline", "only_candidate")
    claims = ("p", "p_corrected", "slices_p_corrected", "claims")
    return {
        "sentence": figures.sentence,
        "scorers": [_scorer_json(scorer) for scorer in figures.scorers],
        **{name: getattr(figures, name) for name in (*counts, *alone, "edited", *claims)},
        "slices": [asdict(tagged) for tagged in figures.slices],
        "warnings": list(figures.warnings),
    }


def relabels_json(baseline: Run, candidate: Run) -> dict[str, Any]:
    """The later labels of both runs, which the figures do not use; None for a run without any."""
    relabels = Relabel.objects.of_runs([baseline, candidate])
    sides = {"baseline": baseline, "candidate": candidate}
    return {side: describe_relabel(relabels.get(run.pk)) for side, run in sides.items()}


def run_json(run: Run) -> dict[str, str]:
    return {"id": str(run.uuid), "name": run.name}


def _scorer_json(scorer: ScorerFigures) -> dict[str, Any]:
    return {name: value for name, value in asdict(scorer).items() if name not in NOT_IN_JSON}


def _summary_title(runs: Sequence[ComparedRun]) -> str:
    baseline = runs[0].baseline
    return f"{baseline.output_set.version.dataset}: {len(runs)} runs vs. {baseline.name}"


def _summary_rows(runs: Sequence[ComparedRun]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [SUMMARY_HEAD]
    for _, candidate, figures in runs:
        alone = figures.only_baseline + figures.only_candidate
        counts = (figures.pairs, figures.broke, figures.fixed, figures.unclear, alone)
        rows.append((candidate.name, *(f"{count:,}" for count in counts)))
    return rows


def _title(run: ComparedRun) -> str:
    dataset = run.candidate.output_set.version.dataset
    return f"{dataset}: {run.candidate.name} compared with {run.baseline.name}"


def _warnings(run: ComparedRun) -> list[str]:
    relabels = Relabel.objects.of_runs([run.baseline, run.candidate]).values()
    texts = [*run.figures.warnings, *(relabel.comparison_sentence for relabel in relabels)]
    return [f"note: {text}" for text in texts]


def _tables(figures: Figures) -> Iterator[list[tuple[str, ...]]]:
    """The rows of each table, its head first."""
    if figures.scorers:
        yield [HEAD, *map(_scorer_row, figures.scorers)]
    if changed := figures.changed_slices:
        yield [SLICES_HEAD, *map(_slice_row, changed)]


def _scorer_row(scorer: ScorerFigures) -> tuple[str, ...]:
    means = [number_text(mean, 3) for mean in scorer.means] if scorer.means else [NO_FIGURE] * 2
    detectable = NO_FIGURE if scorer.detectable is None else size_text(scorer.detectable)
    counts = (scorer.improved, scorer.regressed, scorer.flips.broke, scorer.flips.fixed)
    return (
        *(scorer.name, f"{scorer.n:,}", *means, _change(scorer.delta, scorer.interval)),
        *(_p(scorer.p), _p(scorer.p_corrected), detectable),
        *(f"{count:,}" for count in counts),
        _p(scorer.flips.p_corrected),
    )


def _slice_row(tagged: Slice) -> tuple[str, ...]:
    change = _change(tagged.delta, tagged.interval)
    return tagged.tag, tagged.scorer, f"{tagged.n:,}", change, _p(tagged.q_corrected)


def _p(p: float | None) -> str:
    """Without blanks, so that columns stay narrow: 0.031, <0.001."""
    return NO_FIGURE if p is None else chance_text(p).replace(" ", "")


def _change(delta: float | None, interval: tuple[float, float] | None) -> str:
    if delta is None:
        return NO_FIGURE
    ends = f" [{', '.join(map(change_text, interval))}]" if interval else ""
    return to_ascii(change_text(delta) + ends)


def _facts(run: ComparedRun) -> list[str]:
    figures = run.figures
    counts = [
        f"{getattr(figures, kind.value):,} {kind.label}"
        for kind in PairKind
        if kind != PairKind.PAIRS
        and (getattr(figures, kind.value) or kind in (PairKind.BROKE, PairKind.FIXED))
    ]
    facts = [scorer.sentence for scorer in figures.scorers]
    facts += [f"intervals and p of {names}: {words}" for words, names in figures.methods()]
    return [*facts, f"cases: {', '.join(counts)}", *_list_flips(run)]


def _list_flips(run: ComparedRun) -> Iterator[str]:
    """The keys of the first cases that broke and that were fixed."""
    pairs = Pairs(run.baseline, run.candidate)
    for kind in (PairKind.BROKE, PairKind.FIXED):
        if count := int(getattr(run.figures, kind.value)):
            rows = pairs.page(kind, size=MAX_NAMED).rows
            keys = [row.key for row in rows]
            more = count - len(rows)
            yield f"{kind.label}: {', '.join(keys)}{f' and {more:,} more' if more else ''}"
