"""Dataset versions and outputs written row by row, without an upload."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from scoring.models import Case, Dataset, DatasetVersion, Output, OutputSet, OutputSetState, Team


def published_version(
    team: Team, cases: Sequence[dict[str, Any]], name: str = "Answers"
) -> DatasetVersion:
    """A published version from dicts with key, input, expected, references, metadata, tags."""
    dataset, _ = Dataset.objects.get_or_create(team=team, name=name)
    version = DatasetVersion.with_loading.create(dataset=dataset)
    Case.objects.bulk_create(
        Case(
            version=version,
            position=position,
            key=case.get("key", f"case-{position}"),
            input_json=_json(case.get("input", "")),
            expected_json=_json(case["expected"]) if "expected" in case else None,
            references_json=_json(case.get("references", [])),
            metadata_json=_json(case.get("metadata", {})),
            tags_json=_json(case.get("tags", [])),
        )
        for position, case in enumerate(cases, start=1)
    )
    version.publish(content_hash="", case_count=len(cases))
    return version


def ready_outputs(
    version: DatasetVersion, texts: Sequence[str | None], series: str = "a"
) -> OutputSet:
    """A ready output set over a version, from texts in the order of its cases (None = failed)."""
    made = OutputSet.objects.create(version=version, series=series, output_count=len(texts))
    Output.objects.bulk_create(
        Output(output_set=made, case=case, text=text, error="" if text is not None else "failed")
        for case, text in zip(version.cases.all(), texts, strict=True)
    )
    made.state = OutputSetState.READY
    made.save()
    return made


def _json(value: Any) -> str:
    """As imports store it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
