"""The cases of a run with what every scorer said of them, as the run's table lists them."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from django.db.models import OuterRef, Q, Subquery

from scoring.core.files.writers import Fields, JsonText
from scoring.engine.export.cases import STORED, case_fields
from scoring.engine.export.outputs import FIGURES, output_fields
from scoring.engine.export.sheet import Sheet, batches
from scoring.models import CaseVerdict, Output, Run, RunScorer, Score, Status, Verdict
from scoring.models.case_table import CaseTable

OF_CASE: Final = ("key", "trial", "verdict", "input", "expected", "references", "tags", "metadata")
OF_OUTPUT: Final = ("output", *FIGURES)
OF_SCORE: Final = ("status", "score", "verdict", "reason", "code")  # of each scorer in a table
_STATUSES: Final = {status.value: status.label for status in Status}
_VERDICTS: Final[Mapping[int | None, str | None]] = {
    None: None,
    **{verdict.value: verdict.label for verdict in Verdict},
}


def run_sheet(table: CaseTable) -> Sheet:
    """The cases that pass the table's filters, in its order.

    Which they are is settled here, so that their number is known before the first is written:
    that takes 8 bytes a row.
    """
    outputs = array("q", table.outputs())
    scorers = [scorer.name for scorer in table.scorers]
    heads = [f"{name} {part}" for name in scorers for part in OF_SCORE]
    return Sheet(
        f"{table.run.output_set.version.dataset.name} {table.run.name}",
        len(outputs),
        (*OF_CASE, *OF_OUTPUT, *heads),
        lambda: _results(table.run, table.scorers, outputs),
        lambda row: _cells(row, scorers),
    )


def _cells(row: Fields, scorers: Sequence[str]) -> list[Any]:
    scores = {score["scorer"]: score for score in row["scores"]}
    own = [row.get(column) for column in (*OF_CASE, *OF_OUTPUT)]
    return own + [scores.get(name, _NOT_YET)[part] for name in scorers for part in OF_SCORE]


_NOT_YET: Final[Mapping[str, None]] = dict.fromkeys(OF_SCORE)


def _results(run: Run, scorers: Sequence[RunScorer], outputs: Sequence[int]) -> Iterator[Fields]:
    for batch in batches(outputs):
        rows, scores = _rows(run, batch), _scores(scorers, batch)
        for output in batch:
            yield {**rows[output], "scores": scores[output]}


def _rows(run: Run, outputs: Sequence[int]) -> dict[int, dict[str, Any]]:
    place = {"position": OuterRef("case__position"), "trial": OuterRef("trial")}
    verdict = CaseVerdict.objects.filter(run=run, **place).values("verdict")[:1]
    texts = (*(f"case__{name}" for name in ("key", *STORED)), "text", "is_json", *FIGURES)
    known = Output.objects.filter(_among("pk", outputs), output_set=run.output_set_id)
    found = known.annotate(verdict=Subquery(verdict))
    return {
        output: {
            "key": rest[0],
            "trial": trial,
            "verdict": _VERDICTS[verdict],
            **case_fields(*rest[: 1 + len(STORED)]),
            **output_fields(*rest[1 + len(STORED) :]),
        }
        for output, trial, verdict, *rest in found.values_list("pk", "trial", "verdict", *texts)
    }


def _scores(
    scorers: Sequence[RunScorer], outputs: Sequence[int]
) -> Mapping[int, list[dict[str, Any]]]:
    """What each scorer said, in the order of the run's scorers, without those that have not."""
    found: defaultdict[int, list[dict[str, Any]]] = defaultdict(list)
    columns = ("output", "status", "score", "verdict", "reason", "metadata_json", "code")
    for scorer in scorers:
        rows = Score.objects.filter(_among("output", outputs), scorer=scorer).order_by()
        for output, status, score, verdict, reason, metadata, code in rows.values_list(*columns):
            found[output].append(
                {
                    "scorer": scorer.name,
                    "status": _STATUSES[status],
                    "score": score,
                    "verdict": _VERDICTS[verdict],
                    "reason": reason,
                    "metadata": JsonText(metadata),
                    "code": code,
                }
            )
    return found


def _among(column: str, ids: Sequence[int]) -> Q:
    """That a row has one of these ids; where they lie close together, also the few between."""
    low, high = min(ids), max(ids)
    if high - low < 2 * len(ids):
        return Q(**{f"{column}__gte": low, f"{column}__lte": high})
    return Q(**{f"{column}__in": ids})
