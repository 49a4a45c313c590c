"""The outputs of an output set as rows that matching by key reads back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from django.db.models import Q

from scoring.core.files.writers import Fields, JsonText
from scoring.engine.export.formats import ExportTable
from scoring.models import Output, OutputSet

BATCH: Final = 2_000
FIGURES: Final = ("error", "latency_ms", "tokens_in", "tokens_out", "cost_usd")
COLUMNS: Final = ("key", "trial", "output", *FIGURES)


def output_set_table(output_set: OutputSet) -> ExportTable:
    """Every output, in the order of cases and trials."""
    return ExportTable(
        f"{output_set.version.dataset.name} {output_set}",
        Output.objects.filter(output_set=output_set).count(),
        COLUMNS,
        lambda: _outputs(output_set),
        lambda row: [row[column] for column in COLUMNS],
    )


def output_fields(text: str | None, is_json: bool, *figures: Any) -> dict[str, Any]:
    """An output as the API gives it, its error, and its FIGURES."""
    output = JsonText(text) if is_json and text is not None else text
    return {"output": output, **dict(zip(FIGURES, figures, strict=True))}


def _outputs(output_set: OutputSet) -> Iterator[Fields]:
    columns = ("case", "trial", "case__key", "text", "is_json", *FIGURES)
    rows = Output.objects.filter(output_set=output_set).order_by("case", "trial")
    after = Q()
    while batch := list(rows.filter(after).values_list(*columns)[:BATCH]):
        for case, trial, key, *stored in batch:
            yield {"key": key, "trial": trial, **output_fields(*stored)}
            after = Q(case__gte=case) & ~Q(case=case, trial__lte=trial)
