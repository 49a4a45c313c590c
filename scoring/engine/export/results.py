"""The cases of a run with their scores, as the run's table lists them."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from django.db.models import OuterRef, Q, Subquery

from scoring.core.files.columns.exported_scores import SCORE_COLUMNS
from scoring.core.files.writers import Fields, JsonText
from scoring.engine.export.cases import STORED, case_fields
from scoring.engine.export.formats import ExportTable, batches
from scoring.engine.export.outputs import FIGURES, output_fields
from scoring.models import CaseVerdict, Output, Relabel, Run, RunScorer, Score, Status, Verdict
from scoring.models.case_list.table import CaseTable
from scoring.models.runs.relabel import combine_verdicts

OF_CASE: Final = (
    *("key", "trial", "verdict", "relabelled_verdict"),
    *("input", "expected", "references", "tags", "metadata"),
)
OF_OUTPUT: Final = ("output", *FIGURES)
_STATUSES: Final = {status.value: status.label for status in Status}
_VERDICTS: Final[Mapping[int | None, str | None]] = {
    None: None,
    **{verdict.value: verdict.label for verdict in Verdict},
}
_STATUS_OF: Final = {status.label: status.value for status in Status}
_VERDICT_OF: Final = {verdict.label: verdict for verdict in Verdict}


def run_table(table: CaseTable) -> ExportTable:
    """The cases that pass the table's filters, in its order.

    `relabelled_verdict` is None but in a run with later labels. The ids of the cases are read here,
    in 8 bytes each, so that their number is known before the first is written.
    """
    outputs = array("q", table.outputs())
    scorers = [scorer.name for scorer in table.scorers]
    score_columns = [f"{name} {part}" for name in scorers for part in SCORE_COLUMNS]
    return ExportTable(
        f"{table.run.output_set.version.dataset.name} {table.run.name}",
        len(outputs),
        (*OF_CASE, *OF_OUTPUT, *score_columns),
        lambda: _results(table.run, table.scorers, outputs),
        lambda row: _cells(row, scorers),
        len(table.left_out),
    )


def _cells(row: Fields, scorers: Sequence[str]) -> list[Any]:
    scores = {score["scorer"]: score for score in row["scores"]}
    cells = [row.get(column) for column in (*OF_CASE, *OF_OUTPUT)]
    return cells + [scores.get(name, {}).get(part) for name in scorers for part in SCORE_COLUMNS]


def _results(run: Run, scorers: Sequence[RunScorer], outputs: Sequence[int]) -> Iterator[Fields]:
    relabel = Relabel.objects.latest_of(run)
    for batch in batches(outputs):
        rows, scores = _rows(run, batch), _scores(scorers, batch, relabel)
        for output in batch:
            row = rows[output]
            if relabel:
                row["relabelled_verdict"] = _relabelled_case(scores[output]) or row["verdict"]
            yield {**row, "scores": scores[output]}


def _rows(run: Run, outputs: Sequence[int]) -> dict[int, dict[str, Any]]:
    verdicts = CaseVerdict.objects.filter(
        run=run, position=OuterRef("case__position"), trial=OuterRef("trial")
    )
    columns = (*(f"case__{name}" for name in ("key", *STORED)), "text", "is_json", *FIGURES)
    rows = Output.objects.filter(_among("pk", outputs), output_set=run.output_set_id)
    rows = rows.annotate(verdict=Subquery(verdicts.values("verdict")[:1]))
    return {
        output: {
            "key": rest[0],
            "trial": trial,
            "verdict": _VERDICTS[verdict],
            "relabelled_verdict": None,
            **case_fields(*rest[: 1 + len(STORED)]),
            **output_fields(*rest[1 + len(STORED) :]),
        }
        for output, trial, verdict, *rest in rows.values_list("pk", "trial", "verdict", *columns)
    }


def _relabelled_case(scores: Sequence[Mapping[str, Any]]) -> str | None:
    """The case's verdict by the later labels of its scores; None without any score."""
    if not scores:
        return None
    parts = ((s["status"], s["relabelled_verdict"]) for s in scores)
    return combine_verdicts((_STATUS_OF[s], _VERDICT_OF.get(v)) for s, v in parts).label


def _scores(
    scorers: Sequence[RunScorer], outputs: Sequence[int], relabel: Relabel | None
) -> Mapping[int, list[dict[str, Any]]]:
    """The scores by output, in the order of the run's scorers; missing ones are left out."""
    scores: defaultdict[int, list[dict[str, Any]]] = defaultdict(list)
    columns = ("output", "status", "score", "verdict", "reason", "metadata_json", "code")
    for scorer in scorers:
        rows = Score.objects.filter(_among("output", outputs), scorer=scorer).order_by()
        for output, status, score, verdict, reason, metadata, code in rows.values_list(*columns):
            named = (scorer.name, score, verdict, code)
            later = relabel.verdict_by(*named) if relabel else None
            scores[output].append(
                {
                    "scorer": scorer.name,
                    "status": _STATUSES[status],
                    "score": score,
                    "verdict": _VERDICTS[verdict],
                    "relabelled_verdict": _VERDICTS[later],
                    "reason": reason,
                    "metadata": JsonText(metadata),
                    "code": code,
                }
            )
    return scores


def _among(column: str, ids: Sequence[int]) -> Q:
    """Rows with one of these ids; where they are close together, also those between them."""
    low, high = min(ids), max(ids)
    if high - low < 2 * len(ids):
        return Q(**{f"{column}__gte": low, f"{column}__lte": high})
    return Q(**{f"{column}__in": ids})
