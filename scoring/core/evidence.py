"""What a score by embeddings or by a judge rests on, piece by piece, for pages to set out.

Like `explain`, it works from the stored result and the frozen config, and asks nobody.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from scoring.core.config import Config
from scoring.core.contract import Case, Json, Result
from scoring.core.json_text import text_of
from scoring.core.judge.scale import Choices, Scale
from scoring.core.number_text import dollars_text
from scoring.core.scorers import judge, reference

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


class Step(NamedTuple):
    """A choice of a judge's scale, what it scores, and whether it was chosen."""

    label: str
    score: float
    is_chosen: bool


class Sample(NamedTuple):
    """One reply: what it said and what that scores, None where it is off the scale."""

    said: str
    score: float | None


class Judgement(NamedTuple):
    """What a judge said. `steps` are empty for a range; `value` is "" where nothing was said.

    `facts` are what the calls took, in words by name. `refs` name the kept replies. The `rubric`
    is what was asked, "" for a type that always asks the same.
    """

    steps: tuple[Step, ...]
    value: str
    span: str
    reasons: str
    samples: tuple[Sample, ...]
    reduce: str
    facts: tuple[tuple[str, str], ...]
    refs: tuple[str, ...]
    rubric: str = ""


def similarities(config: Config | None, case: Case, result: Result) -> tuple[Similarity, ...]:
    """Each similarity that was kept beside its reference; empty for any other type."""
    if not isinstance(config, reference.ReferenceMatchConfig) or result.score is None:
        return ()
    texts, winner = reference.texts_of(case, config), result.metadata.get("winner")
    if isinstance(texts, Result):
        return ()
    kept = zip(texts.references, result.metadata.get("similarities", ()), strict=False)
    return tuple(
        Similarity(number, _start(text), float(value), number == winner)
        for number, (text, value) in enumerate(kept, start=1)
    )


def _start(text: str) -> str:
    return text if len(text) <= EXCERPT else text[: EXCERPT - 1] + "…"


def judgement(config: Config | None, result: Result) -> Judgement | None:
    """What the judge said and what it took, also of a reply no score came from.

    None for any other type, and where nobody was asked.
    """
    if not isinstance(config, judge.FactualityConfig | judge.LlmJudgeConfig):
        return None
    facts, scale = result.metadata, config.scale()
    if "attempts" not in facts:
        return None
    value = facts.get(scale.key)
    said = "" if value is None else text_of(value)
    steps = scale.scores.items() if isinstance(scale, Choices) and said else ()
    return Judgement(
        steps=tuple(Step(_named(config, label), score, label == said) for label, score in steps),
        value=said,
        span="" if isinstance(scale, Choices) else scale.words(),
        reasons=text_of(facts.get("reasons", "")),
        samples=_samples(facts, scale),
        reduce=getattr(config, "reduce", ""),
        facts=tuple(_taken(facts)),
        refs=tuple(str(ref) for ref in facts.get("refs", ())),
        rubric=getattr(config, "rubric", ""),
    )


def _named(config: Config, label: str) -> str:
    """A label of the factuality scale with what it stands for."""
    is_known = isinstance(config, judge.FactualityConfig) and label in FACTS
    return f"{label}: {FACTS[label]}" if is_known else label


def _samples(facts: Mapping[str, Json], scale: Scale) -> tuple[Sample, ...]:
    """Of several samples each; one alone is the value itself."""
    said = list(facts.get("samples", ()))[:MAX_SAMPLES]
    return tuple(Sample(text_of(each), _score(each, scale)) for each in said if len(said) > 1)


def _score(value: Json, scale: Scale) -> float | None:
    try:
        return scale.score(value)
    except (KeyError, ValueError, TypeError):  # a row with little room keeps the start of a label
        return None


def _taken(facts: Mapping[str, Json]) -> list[tuple[str, str]]:
    """What is known of the calls, in words."""
    found = [("model", text_of(facts["model"]))] if facts.get("model") else []
    names = {"tokens_in": "tokens in", "tokens_out": "tokens out"}
    found += [(name, f"{facts[key]:,}") for key, name in names.items() if _is_number(facts, key)]
    if _is_number(facts, "cost_usd"):
        found.append(("cost", dollars_text(facts["cost_usd"])))
    if _is_number(facts, "latency_ms"):
        found.append(("latency", f"{facts['latency_ms']:,.0f} ms"))
    if _is_number(facts, "attempts"):
        found.append(("attempts", f"{facts['attempts']:,}"))
    if "cached" in facts:
        found.append(("from the cache", "yes" if facts["cached"] else "no"))
    return found


def _is_number(facts: Mapping[str, Json], name: str) -> bool:
    value = facts.get(name)
    return isinstance(value, int | float) and not isinstance(value, bool)
