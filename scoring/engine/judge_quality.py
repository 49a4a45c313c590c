"""How good a judge is: its agreement with people's labels, and whether it follows the place."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from scoring.core.agreement import Agreement, PlaceBias, agreement, other_label, place_bias
from scoring.core.contract import Json
from scoring.core.json_path import parse_path
from scoring.core.json_text import text_of
from scoring.models import RunScorer, Score, Verdict

MAX_CASES: Final = 20_000  # a page waits for it
EXPECTED: Final = "expected"
METADATA: Final = "metadata"

_VERDICT_LABELS: Final[Mapping[str, str]] = {"true": "pass", "false": "fail"}


class Judged(NamedTuple):
    """What a judge said of one output, and the person's label for its case, if there is one."""

    key: str
    choice: str
    verdict: str
    label: str | None


@dataclass(frozen=True)
class JudgeQuality:
    """A judge beside people, over the outputs that have both its answer and a label.

    `in_swapped_order` is the agreement on a second run in which the two things to choose between
    stand in the other order; `bias` compares both runs case by case.
    """

    scorer: RunScorer
    agreement: Agreement
    unlabelled: int
    is_cut: bool
    swapped: RunScorer | None = None
    in_swapped_order: Agreement | None = None
    bias: PlaceBias | None = None


def judge_quality(scorer: RunScorer, label: str, swapped: RunScorer | None = None) -> JudgeQuality:
    """The judge against the label at this path of a case: `expected` or `metadata.<path>`.

    A label true, false, pass or fail is compared with the judge's verdict, any other with its
    choice. Raises ValueError for a path that names no such place.
    """
    judged = _judged(scorer, label)
    found = JudgeQuality(
        scorer,
        agreement(_pairs(judged)),
        unlabelled=sum(each.label is None for each in judged),
        is_cut=len(judged) == MAX_CASES,
    )
    if swapped is None:
        return found
    turned = _judged(swapped, label)
    return JudgeQuality(
        scorer,
        found.agreement,
        found.unlabelled,
        found.is_cut,
        swapped,
        agreement(_pairs(_with_other_labels(turned, _choices(swapped)))),
        place_bias(_by_key(judged), _by_key(turned)),
    )


def label_paths(scorer: RunScorer) -> list[str]:
    """Where labels may lie: paths that the first cases of the run have, the likeliest first."""
    metadata = _rows(scorer).values_list("output__case__metadata_json", flat=True)[:50]
    keys = Counter(key for text in metadata for key, value in json.loads(text).items() if value)
    return [*(f"{METADATA}.{key}" for key, _ in keys.most_common()), EXPECTED]


def _rows(scorer: RunScorer) -> Any:
    return Score.objects.filter(scorer=scorer, score__isnull=False).order_by("output")


def _judged(scorer: RunScorer, label: str) -> list[Judged]:
    path = parse_path(label)
    if path[:1] not in ((EXPECTED,), (METADATA,)):
        raise ValueError(f"{label} is neither `expected` nor inside `metadata`")
    column = f"output__case__{path[0]}_json"
    found = _rows(scorer).values_list("output__case__key", "metadata_json", "verdict", column)
    return [
        Judged(
            key,
            str(json.loads(metadata).get("choice", "")),
            Verdict(verdict).label,
            _label_at(json.loads(text) if text else None, path[1:]),
        )
        for key, metadata, verdict, text in found[:MAX_CASES]
    ]


def _label_at(value: Json, path: Sequence[str | int]) -> str | None:
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return None if value is None else text_of(value)


def _pairs(judged: Sequence[Judged]) -> Iterator[tuple[str, str]]:
    """Per labelled output the judge's word and the person's, in the same terms."""
    for each in judged:
        if each.label is None:
            continue
        label = _VERDICT_LABELS.get(each.label.lower(), each.label)
        yield (each.verdict if label in _VERDICT_LABELS.values() else each.choice), label


def _with_other_labels(judged: Sequence[Judged], choices: Sequence[str]) -> list[Judged]:
    """In the other order the thing a person chose stands in the other place."""
    return [each._replace(label=each.label and other_label(each.label, choices)) for each in judged]


def _choices(scorer: RunScorer) -> list[str]:
    return list(scorer.version.config.get("choices") or ())


def _by_key(judged: Sequence[Judged]) -> dict[str, str]:
    return {each.key: each.choice for each in judged}
