"""Exported cases and outputs as an upload reads them again, and what their files are called."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scoring.engine import imports
from scoring.engine.export import output_set_table
from scoring.models import Output, OutputSet, Team
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with

pytestmark = pytest.mark.django_db


def outputs_of(output_set: OutputSet) -> list[tuple[Any, ...]]:
    rows = Output.objects.filter(output_set=output_set).order_by("case", "trial")
    figures = ("latency_ms", "tokens_in", "tokens_out", "cost_usd")
    return list(rows.values_list("case__key", "trial", "text", "is_json", "error", *figures))


@pytest.mark.parametrize("file_format", ["jsonl", "json", "csv"])
def test_an_output_set_comes_back_as_it_was(
    team: Team, make_dataset: MakeDataset, tmp_path: Path, file_format: str
) -> None:
    version = make_dataset([{"key": f"q{n}"} for n in range(3)])
    output_set = run_with(version, {"close": [1.0] * 6}, trials=2).output_set
    first, *_ = Output.objects.filter(output_set=output_set).order_by("pk")
    Output.objects.filter(pk=first.pk).update(text=None, error="=timeout", latency_ms=0.25)
    Output.objects.filter(pk=first.pk + 1).update(
        text="-1", tokens_in=1, tokens_out=2, cost_usd=0.1
    )
    if file_format != "csv":
        Output.objects.filter(pk=first.pk + 2).update(text='{"a":[1]}', is_json=True)
    sheet = output_set_table(output_set)
    path = tmp_path / sheet.file_name(file_format)
    path.write_bytes(b"".join(sheet.stream(file_format)))
    again = imports.import_outputs_file(version, path).output_set
    assert outputs_of(again) == outputs_of(output_set)
