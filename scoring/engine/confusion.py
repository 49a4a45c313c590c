"""The confusion matrix of a scorer that has classes, counted from a run's rows."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any, Final, NamedTuple, cast

from scoring.core.bound import bind
from scoring.core.confusion import Confusion
from scoring.core.contract import Case, Result
from scoring.core.json_text import text_of
from scoring.core.selection import TargetConfig, selected
from scoring.models import RunScorer
from scoring.models.case_labels import Labelled, Ways, compared

OTHER: Final = "(other)"  # in addresses, for a text that is no label
KEPT_WAYS: Final = 50  # of writing one label, beyond which none is kept


def classes_of(scorer: RunScorer) -> dict[str, Any]:
    """The matrix as `scoring.core.confusion.Confusion` reads it, with the ways each label was
    written; empty for a scorer without classes.

    `answered` and `expected` hold, for each label, the outputs (whether JSON, and the text) and the
    expected JSON texts (None where absent) that stand for it; None where there are too many.
    """
    is_matching = scorer.version.type == "exact_match"
    labels = list(dict.fromkeys(scorer.version.config.get("classes") or ())) if is_matching else []
    if not labels:
        return {}
    config, alike = _config(scorer), _alike(scorer.version.config)
    places = {alike(label): place for place, label in enumerate(labels)}
    size = others = len(labels)
    counts = [[0] * (size + 1) for _ in range(size + 1)]
    ways = _Ways(defaultdict(set), defaultdict(set))
    for (text, is_json, wanted), number in _pairs(scorer).items():
        case = selected(_case(text, wanted, is_json=is_json), config)
        if isinstance(case, Result):
            continue
        row = places.get(alike(text_of(case.expected)), others)
        column = places.get(alike(text_of(case.output)), others)
        counts[row][column] += number
        ways.answered[column].add((is_json, text))
        ways.expected[row].add(wanted)
    return {
        "labels": labels,
        "counts": counts,
        "answered": [_kept(ways.answered[place]) for place in range(size)],
        "expected": [_kept(ways.expected[place]) for place in range(size)],
    }


def labelled(scorer: RunScorer, expected: str, answered: str) -> Labelled | None:
    """The cases with these labels, OTHER for any other text and "" for any at all; None where the
    scorer's matrix has no such label or cannot tell how it was written.
    """
    summary = getattr(scorer, "summary", None)
    kept: dict[str, Any] = summary.classes if summary else {}
    if not kept:
        return None
    found = []
    for label, side in ((expected, "expected"), (answered, "answered")):
        ways = _ways(kept["labels"], kept[side], label)
        if label and ways is None:
            return None
        found.append(ways)
    return Labelled(scorer, *found)


def _ways(labels: list[str], written: list[Any], label: str) -> Ways | None:
    if label == OTHER:
        return None if None in written else Ways(_set(chain(*written)), is_other=True)
    found = written[labels.index(label)] if label in labels else None
    return None if found is None else Ways(_set(found))


def _set(written: Iterable[Any]) -> frozenset[Any]:
    """JSON has made lists of the pairs."""
    return frozenset(tuple(each) if isinstance(each, list) else each for each in written)


def confusion_of(kept: dict[str, Any]) -> Confusion | None:
    """What `classes_of` has told; None for a scorer without classes."""
    return Confusion(kept["labels"], kept["counts"]) if kept else None


class _Ways(NamedTuple):
    """How the label at each place was written."""

    answered: defaultdict[int, set[tuple[bool, str]]]
    expected: defaultdict[int, set[str | None]]


def _pairs(scorer: RunScorer) -> Counter[tuple[str, bool, str | None]]:
    """How often each output was judged beside each expected JSON text; problems are left out."""
    columns = ("output__text", "output__is_json", "output__case__expected_json")
    return Counter(compared(scorer).values_list(*columns).order_by().iterator(chunk_size=20_000))


def _case(text: str, expected: str | None, *, is_json: bool) -> Case:
    wanted = None if expected is None else json.loads(expected)
    return Case(json.loads(text) if is_json else text, wanted)


def _config(scorer: RunScorer) -> TargetConfig:
    """What the scorer selects of a case before it compares."""
    version = scorer.version
    bound = bind(version.type, version.config, scorer.threshold)
    return cast("TargetConfig", bound.config)


def _alike(config: dict[str, Any]) -> Callable[[str], str]:
    """Writes a text as the scorer compares it."""
    keeps_case, trims = config.get("case_sensitive", True), config.get("trim", False)

    def written(text: str) -> str:
        text = text if keeps_case else text.lower()
        return text.strip() if trims else text

    return written


def _kept(ways: set[Any]) -> list[Any] | None:
    return sorted(ways, key=repr) if len(ways) <= KEPT_WAYS else None
