"""The confusion matrix of a scorer that has classes, counted from a run's rows."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from typing import Any, Final, cast

from scoring.core.configured import configure_scorer
from scoring.core.contract import Case, Result
from scoring.core.json_text import to_text
from scoring.core.registry import find_type
from scoring.core.scorers.selection import TargetConfig, select_target
from scoring.core.scorers.text import ExactMatchConfig
from scoring.core.stats.confusion_matrix import ConfusionMatrix
from scoring.models import RunScorer
from scoring.models.case_list.label_filter import LabelFilter, LabelSpellings, compared_scores

OTHER_LABEL: Final = "(other)"  # in URLs, for a text that is no label
MAX_DECIMALS: Final = 9  # of a count
MAX_SPELLINGS: Final = 50  # of one label; of more none is kept


def count_classes(scorer: RunScorer, *, has_trials: bool = False) -> dict[str, Any]:
    """The labels and counts of `scoring.core.stats.confusion_matrix.ConfusionMatrix`, and how each
    label was spelled; empty for a scorer without classes.

    `answered` and `expected` hold, for each label, the outputs (whether JSON, and the text) and the
    expected JSON texts (None where absent) that count as it; None where there are too many. Where
    cases have several trials, each trial counts as its share of the case.
    """
    kind = find_type(scorer.version.type)
    labels = list(dict.fromkeys(scorer.version.config.get("classes") or ()))
    if not labels or kind is None or not issubclass(kind.config, ExactMatchConfig):
        return {}
    config, normalize = _config(scorer), _normalizer(scorer.version.config)
    indices = {normalize(label): index for index, label in enumerate(labels)}
    others = len(labels)
    counts: list[list[float]] = [[0] * (others + 1) for _ in range(others + 1)]
    pairs: Mapping[tuple[str, bool, str | None], float] = (
        _weigh_pairs(scorer) if has_trials else _count_pairs(scorer)
    )
    answered: list[set[Any]] = [set() for _ in range(others + 1)]
    expected: list[set[Any]] = [set() for _ in range(others + 1)]
    for (text, is_json, expected_json), count in pairs.items():
        case = select_target(_case(text, expected_json, is_json=is_json), config)
        if isinstance(case, Result):
            continue
        row = indices.get(normalize(to_text(case.expected)), others)
        column = indices.get(normalize(to_text(case.output)), others)
        counts[row][column] += count
        answered[column].add((is_json, text))
        expected[row].add(expected_json)
    return {
        "labels": labels,
        "counts": [[round(count, MAX_DECIMALS) for count in row] for row in counts],
        "answered": [_sort_few(spellings) for spellings in answered[:others]],
        "expected": [_sort_few(spellings) for spellings in expected[:others]],
    }


def labelled_counts(scorer: RunScorer, expected: str, answered: str) -> LabelFilter | None:
    """The cases with these labels, OTHER_LABEL for any other text and "" for any at all; None where
    the scorer's matrix has no such label or does not hold its spellings.
    """
    summary = getattr(scorer, "summary", None)
    classes: dict[str, Any] = summary.classes if summary else {}
    if not classes:
        return None
    sides = []
    for label, side in ((expected, "expected"), (answered, "answered")):
        spellings = _spellings(classes["labels"], classes[side], label)
        if label and spellings is None:
            return None
        sides.append(spellings)
    return LabelFilter(scorer, *sides)


def _spellings(labels: list[str], by_label: list[Any], label: str) -> LabelSpellings | None:
    if label == OTHER_LABEL:
        return None if None in by_label else LabelSpellings(_set(chain(*by_label)), is_other=True)
    spellings = by_label[labels.index(label)] if label in labels else None
    return None if spellings is None else LabelSpellings(_set(spellings))


def _set(spellings: Iterable[Any]) -> frozenset[Any]:
    """Pairs, of which JSON has made lists, become tuples again."""
    return frozenset(tuple(each) if isinstance(each, list) else each for each in spellings)


def read_confusion_matrix(classes: dict[str, Any]) -> ConfusionMatrix | None:
    """The matrix in the answer of `count_classes`; None for a scorer without classes."""
    return ConfusionMatrix(classes["labels"], classes["counts"]) if classes else None


def _count_pairs(scorer: RunScorer) -> Counter[tuple[str, bool, str | None]]:
    """How often each output was judged by each expected JSON text, without errors and skips."""
    columns = ("output__text", "output__is_json", "output__case__expected_json")
    return Counter(
        compared_scores(scorer).values_list(*columns).order_by().iterator(chunk_size=20_000)
    )


def _weigh_pairs(scorer: RunScorer) -> dict[tuple[str, bool, str | None], float]:
    """The same, each case once however many of its trials were judged."""
    columns = ("output__case", "output__text", "output__is_json", "output__case__expected_json")
    rows: list[Any] = list(compared_scores(scorer).values_list(*columns).order_by())
    trials = Counter(case for case, *_ in rows)
    weights: defaultdict[tuple[str, bool, str | None], float] = defaultdict(float)
    for case, *pair in rows:
        weights[tuple(pair)] += 1 / trials[case]
    return weights


def _case(text: str, expected_json: str | None, *, is_json: bool) -> Case:
    expected = None if expected_json is None else json.loads(expected_json)
    return Case(json.loads(text) if is_json else text, expected)


def _config(scorer: RunScorer) -> TargetConfig:
    """What the scorer selects of a case before it compares."""
    version = scorer.version
    scorer_type = configure_scorer(version.type, version.config, scorer.threshold)
    return cast("TargetConfig", scorer_type.config)


def _normalizer(config: dict[str, Any]) -> Callable[[str], str]:
    """The function that makes equal what the scorer takes for equal."""
    keeps_case, trims = config.get("case_sensitive", True), config.get("trim", False)

    def normalize(text: str) -> str:
        text = text if keeps_case else text.lower()
        return text.strip() if trims else text

    return normalize


def _sort_few(spellings: set[Any]) -> list[Any] | None:
    return sorted(spellings, key=repr) if len(spellings) <= MAX_SPELLINGS else None
