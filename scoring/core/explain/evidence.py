"""The evidence behind a score by embeddings or by a judge, for pages to lay out.

Like `explain`, it works from the stored result and the frozen config, and asks nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from scoring.core.config import Config
from scoring.core.contract import Case, Json, Result
from scoring.core.json_text import to_text
from scoring.core.llm.judge_scale import Choices, Scale
from scoring.core.scorers import llm_judge, reference_match
from scoring.core.wording.numbers import dollars_text

FACTS: Final[Mapping[str, str]] = {
    "A": "some of the facts",
    "B": "all facts and more",
    "C": "the same facts",
    "D": "a contradiction",
    "E": "differences that do not matter",
}
EXCERPT: Final = 300  # characters of a reference
MAX_SAMPLES: Final = 20


class Similarity(NamedTuple):
    """How close the output is to the `number`-th reference; `text` is the start of that."""

    number: int
    text: str
    value: float
    is_closest: bool


class ScaleStep(NamedTuple):
    """A choice of a judge's scale, what it scores, and whether it was chosen."""

    label: str
    score: float
    is_chosen: bool


class JudgeSample(NamedTuple):
    """One reply and its score, None where the reply is off the scale."""

    text: str
    score: float | None


class JudgeEvidence(NamedTuple):
    """What a judge replied. `steps` are empty for a range; `value` is "" without an answer.

    `facts` are what the calls took, in words by name. `refs` name the stored replies. `rubric` is
    "" for a type whose question is fixed.
    """

    steps: tuple[ScaleStep, ...]
    value: str
    span: str
    reasons: str
    samples: tuple[JudgeSample, ...]
    reduce: str
    facts: tuple[tuple[str, str], ...]
    refs: tuple[str, ...]
    rubric: str = ""


def similarity_evidence(
    config: Config | None, case: Case, result: Result
) -> tuple[Similarity, ...]:
    """Each similarity that was kept beside its reference; empty for any other type."""
    if not isinstance(config, reference_match.ReferenceMatchConfig) or result.score is None:
        return ()
    texts, winner = reference_match.select_texts(case, config), result.metadata.get("winner")
    if isinstance(texts, Result):
        return ()
    similarities = []
    values = zip(texts.references, result.metadata.get("similarities", ()), strict=False)
    for number, (text, value) in enumerate(values, start=1):
        start = text if len(text) <= EXCERPT else text[: EXCERPT - 1] + "…"
        similarities.append(Similarity(number, start, float(value), number == winner))
    return tuple(similarities)


def judge_evidence(config: Config | None, result: Result) -> JudgeEvidence | None:
    """What the judge replied and what its calls took, also where no score came of it.

    None for any other type, and where no judge was called.
    """
    if not isinstance(config, llm_judge.FactualityConfig | llm_judge.LlmJudgeConfig):
        return None
    facts, scale = result.metadata, config.scale()
    if "attempts" not in facts:
        return None
    value = facts.get(scale.key)
    answer = "" if value is None else to_text(value)
    steps = scale.scores.items() if isinstance(scale, Choices) and answer else ()
    meanings = FACTS if isinstance(config, llm_judge.FactualityConfig) else {}
    return JudgeEvidence(
        steps=tuple(
            ScaleStep(
                f"{label}: {meanings[label]}" if label in meanings else label,
                score,
                label == answer,
            )
            for label, score in steps
        ),
        value=answer,
        span="" if isinstance(scale, Choices) else scale.words(),
        reasons=to_text(facts.get("reasons", "")),
        samples=_samples(facts, scale),
        reduce=getattr(config, "reduce", ""),
        facts=tuple(_call_facts(facts)),
        refs=tuple(str(ref) for ref in facts.get("refs", ())),
        rubric=getattr(config, "rubric", ""),
    )


def _samples(facts: Mapping[str, Json], scale: Scale) -> tuple[JudgeSample, ...]:
    """Each of several samples; a single one is the value itself."""
    values = list(facts.get("samples", ()))[:MAX_SAMPLES]
    if len(values) < 2:
        return ()
    return tuple(JudgeSample(to_text(value), _score(value, scale)) for value in values)


def _score(value: Json, scale: Scale) -> float | None:
    try:
        return scale.score(value)
    except (KeyError, ValueError, TypeError):  # a row with little room keeps the start of a label
        return None


_FORMATS: Final[Mapping[str, tuple[str, Callable[[float], str]]]] = {
    "tokens_in": ("tokens in", "{:,}".format),
    "tokens_out": ("tokens out", "{:,}".format),
    "cost_usd": ("cost", dollars_text),
    "latency_ms": ("latency", "{:,.0f} ms".format),
    "attempts": ("attempts", "{:,}".format),
}


def _call_facts(facts: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    """What is known of the calls, in words."""
    if facts.get("answers"):
        yield "right answers", to_text(facts["answers"])
    if facts.get("model"):
        yield "model", to_text(facts["model"])
    for key, (name, format_number) in _FORMATS.items():
        value = facts.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield name, format_number(value)
    if "cached" in facts:
        yield "from the cache", "yes" if facts["cached"] else "no"
