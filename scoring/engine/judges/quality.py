"""How good a judge is: its agreement with people's labels, and its position bias."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple

from scoring.core.contract import ConfigError, Json
from scoring.core.json_path import parse_path, path_text
from scoring.core.json_text import to_text
from scoring.core.llm.judge_scale import Choices
from scoring.core.registry import scorer_type
from scoring.core.stats.agreement import (
    Agreement,
    PositionBias,
    measure_agreement,
    measure_position_bias,
    swap_labels,
)
from scoring.engine.runs.execution import configured_scorer
from scoring.models import Run, RunScorer, Score, Verdict
from scoring.models.runs.run import RunQuerySet

MAX_CASES: Final = 20_000  # a page waits for it
MAX_LABEL: Final = 100  # characters; longer values are no labels
MAX_DEPTH: Final = 4
CASES_EXAMINED: Final = 50  # cases that tell where labels lie
EXPECTED: Final = "expected"
METADATA: Final = "metadata"

_VERDICT_LABELS: Final[Mapping[str, str]] = {
    "true": "pass",
    "false": "fail",
    "pass": "pass",
    "fail": "fail",
}

Key = tuple[str, int]  # of a case, and the trial


class JudgedOutput(NamedTuple):
    """A judge's choice and verdict on one output, and the person's label of its case, if any."""

    key: Key
    choice: str
    verdict: str
    label: str | None


class LabelPath(NamedTuple):
    """A path at which labels may lie; `fitting` cases of the sample have one the judge uses."""

    path: str
    fitting: int


@dataclass(frozen=True)
class SwappedOrder:
    """A second run whose outputs hold the two things to choose between in the other order.

    `agreement` is that run's own, with the labels turned round as the things are; `bias` compares
    both runs case by case.
    """

    scorer: RunScorer
    agreement: Agreement
    bias: PositionBias


@dataclass(frozen=True)
class JudgeQuality:
    """A judge beside people, over the outputs that have both its answer and a label.

    `is_cut`: only the first MAX_CASES outputs were read. `is_shown`: the judge could read the
    label, so its agreement says little.
    """

    agreement: Agreement
    unlabelled: int
    is_cut: bool
    is_shown: bool
    in_other_order: SwappedOrder | None = None


class Judge:
    """A scorer of a run that asks a model for its verdict."""

    def __init__(self, scorer: RunScorer) -> None:
        self.scorer = scorer

    @cached_property
    def choices(self) -> Mapping[str, float]:
        """Its labels with their scores; none for a judge that answers with a number."""
        scale = configured_scorer(self.scorer).config.scale()  # type: ignore[attr-defined]
        return scale.scores if isinstance(scale, Choices) else {}

    @cached_property
    def turned(self) -> Mapping[str, str]:
        """Its labels, each with that of the same choice in the other order."""
        return swap_labels(self.choices)

    def judged_outputs(self, label: str) -> list[JudgedOutput]:
        """Its answers on its outputs, at most MAX_CASES + 1, with the labels at this path.

        Errors and refusals are left out: they are no answers. Raises ValueError for a path that
        is neither `expected` nor inside `metadata`.
        """
        path = parse_path(label)
        if path[:1] not in ((EXPECTED,), (METADATA,)):
            raise ValueError(f"{label} is neither {EXPECTED} nor inside {METADATA}")
        columns = ("output__case__key", "output__trial", "metadata_json", "verdict")
        rows = _rows(self.scorer).values_list(*columns, f"output__case__{path[0]}_json")
        return [
            JudgedOutput((key, trial), _choice(reply), Verdict(code).label, _label(text, path[1:]))
            for key, trial, reply, code, text in rows[: MAX_CASES + 1]
        ]

    def pairs(self, judged: Sequence[JudgedOutput]) -> Iterator[tuple[str, str]]:
        """Per labelled output the judge's word and the person's, in the same terms."""
        for output in judged:
            if output.label is None:
                continue
            verdict = _VERDICT_LABELS.get(output.label.lower())
            if verdict is None or output.label in self.choices:
                yield output.choice, output.label
            else:
                yield output.verdict, verdict

    def is_shown(self, label: str) -> bool:
        """Whether the judge's prompt shows the label, or what holds it."""
        root, *inside = parse_path(label)
        hidden = self.scorer.version.config.get("hidden_metadata") or ()
        return root == EXPECTED or not inside or inside[0] not in hidden


def is_judge(scorer: RunScorer) -> bool:
    """Whether the scorer is a judge itself; a combination of judges is none."""
    try:
        return scorer_type(scorer.version.type).family == "llm"
    except ConfigError:
        return False


def judge_quality(scorer: RunScorer, label: str, swapped: RunScorer | None = None) -> JudgeQuality:
    """The judge against the label at this path of a case: `expected` or `metadata.<path>`.

    A label true, false, pass or fail that is none of its choices is compared with its verdict, any
    other with its choice or number. `swapped` counts only where the choices can be turned round.
    Raises ValueError for any other path.
    """
    judge = Judge(scorer)
    judged = judge.judged_outputs(label)
    used = judged[:MAX_CASES]
    return JudgeQuality(
        measure_agreement(judge.pairs(used)),
        unlabelled=sum(output.label is None for output in used),
        is_cut=len(judged) > MAX_CASES,
        is_shown=judge.is_shown(label),
        in_other_order=_in_other_order(judge, used, swapped, label) if swapped else None,
    )


def label_paths(scorer: RunScorer) -> list[LabelPath]:
    """Where labels may lie in the run's first cases, the likeliest first."""
    terms = {*Judge(scorer).choices, *_VERDICT_LABELS}
    seen: Counter[str] = Counter()
    fitting: Counter[str] = Counter()
    columns = ("output__case__metadata_json", "output__case__expected_json")
    for metadata, expected in _rows(scorer).values_list(*columns)[:CASES_EXAMINED]:
        case = {METADATA: json.loads(metadata), EXPECTED: json.loads(expected or "null")}
        for path, text in _labels(case):
            seen[path] += 1
            fitting[path] += text in terms
    places = [LabelPath(path, fitting[path]) for path in seen]
    return sorted(places, key=lambda place: (-place.fitting, -seen[place.path], place.path))


def other_runs(scorer: RunScorer) -> RunQuerySet:
    """The ended runs of the same dataset with the very same scorer version, newest first."""
    dataset = scorer.run.output_set.version.dataset
    same = Run.objects.of_dataset(dataset).ended().filter(scorers__version=scorer.version_id)
    return same.exclude(pk=scorer.run_id).order_by("-id")


def _in_other_order(
    judge: Judge, judged: Sequence[JudgedOutput], swapped: RunScorer, label: str
) -> SwappedOrder | None:
    turned = judge.turned
    if not turned:
        return None
    others = Judge(swapped).judged_outputs(label)[:MAX_CASES]
    relabelled = [output._replace(label=turned.get(output.label or "")) for output in others]
    choices, other_choices = ({row.key: row.choice for row in rows} for rows in (judged, others))
    bias = measure_position_bias(choices, other_choices, turned)
    return SwappedOrder(swapped, measure_agreement(judge.pairs(relabelled)), bias)


def _rows(scorer: RunScorer) -> Any:
    return Score.objects.filter(scorer=scorer, score__isnull=False).order_by("output")


def _choice(metadata_json: str) -> str:
    metadata = json.loads(metadata_json)
    return to_text(metadata.get("choice", metadata.get("number", "")))


def _label(text: str | None, path: Sequence[str | int]) -> str | None:
    value: Json = json.loads(text) if text else None
    for step in path:
        if isinstance(value, dict):
            value = value.get(str(step))
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return _label_text(value)


def _label_text(value: Json) -> str | None:
    """The value as a label; None for any other value."""
    if value is None or isinstance(value, dict | list):
        return None
    text = to_text(value).strip()
    return text if 0 < len(text) <= MAX_LABEL else None


def _labels(value: Json, path: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Every path to something like a label, with that label."""
    if isinstance(value, dict) and len(path) < MAX_DEPTH:
        for key, inner in value.items():
            yield from _labels(inner, (*path, key))
    elif path and (text := _label_text(value)):
        yield path_text(path), text
