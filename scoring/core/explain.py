"""Why a score is what it is: the arithmetic in words, for every scorer type.

Everything comes from the stored result and the frozen config; only what is cheap and certain,
such as which values an output includes or the leaf table, is worked out again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from math import fsum
from typing import Any, Final, NamedTuple

from scoring.core.bound import BoundScorer, bind
from scoring.core.contract import Case, ConfigError, Json, Result
from scoring.core.evidence import Judgement, Similarity, judgement, similarities
from scoring.core.json_text import text_of
from scoring.core.leaves import Leaf
from scoring.core.number_text import MINUS, short_text
from scoring.core.parts import completed, retold
from scoring.core.scorers import json_tree
from scoring.core.scorers.combine import CombineConfig
from scoring.core.selection import WHOLE, excerpt, selected

TIMES: Final = "\N{MULTIPLICATION SIGN}"
DECIMALS: Final = 4
MAX_VALUES: Final = 100
MAX_TERMS: Final = 8  # written out in one line of arithmetic
MAX_FACT: Final = 200  # characters of what a custom scorer tells under one name


class Child(NamedTuple):
    """A part of a combined score, under the name its config gives it."""

    name: str
    explanation: Explanation


class Explanation(NamedTuple):
    """`verdict` is the arithmetic up to the verdict in one line, `found` what went before it.

    `leaves`, `children`, `similarities` and `judgement` are what it rests on: in a JSON comparison,
    a combination, a comparison of meanings, or where a judge was asked. The leaves' paths begin at
    the part of the values that `target` names, None for several parts.
    """

    verdict: str
    found: tuple[str, ...] = ()
    leaves: tuple[Leaf, ...] = ()
    target: str | None = WHOLE
    children: tuple[Child, ...] = ()
    similarities: tuple[Similarity, ...] = ()
    judgement: Judgement | None = None


class _Given(NamedTuple):
    """What an explanation may look at."""

    config: Any
    case: Case
    result: Result

    @property
    def facts(self) -> Mapping[str, Json]:
        return self.result.metadata


_Parts = Sequence[tuple[str, float]]  # name and score of the children that were scored


class _Steps(NamedTuple):
    """What was found, and the arithmetic that leads to the score ("" where there is none)."""

    found: Sequence[str]
    arithmetic: str = ""


def explain(
    type_name: str, config: Mapping[str, Json], threshold: float, case: Case, result: Result
) -> Explanation:
    """The explanation of a stored result, in any type, installed here or not."""
    try:
        scorer = bind(type_name, config, threshold)
    except ConfigError:  # the type's package is gone, or its config has changed since
        return _whole(_generic(_Given(None, case, result)), result, threshold)
    return _explained(scorer, case, result)


def _explained(scorer: BoundScorer, case: Case, result: Result) -> Explanation:
    result = completed(scorer, case, result)
    given = _Given(scorer.config, case, result)
    children, judged = _children(given), judgement(scorer.config, result)
    if result.score is None or result.code:
        return _problem(result)._replace(children=children, judgement=judged)
    name = scorer.type.name
    steps = _negated(given, _STEPS.get(name, _generic)(given))
    leaves = _leaves(given) if name == "json_similarity" else ()
    whole = _whole(steps, result, scorer.threshold)
    return whole._replace(
        leaves=leaves,
        target=_target(scorer.config) if leaves else WHOLE,
        children=children,
        similarities=similarities(scorer.config, case, result),
        judgement=judged,
    )


def _problem(result: Result) -> Explanation:
    """Results that no threshold changes: errors, skips and forced fails."""
    if result.score is None:
        verdict = f"{result.status}: no score, left out of mean and pass rate"
    else:
        verdict = f"{text_of(result.score)}, whatever the threshold → {result.verdict}"
    return Explanation(verdict, (result.reason,) if result.reason else ())


def _whole(steps: _Steps, result: Result, threshold: float) -> Explanation:
    score = result.score or 0.0
    sign = "≥" if score >= threshold else "<"
    start = f"{steps.arithmetic} = " if steps.arithmetic else ""
    shown = _beside(score, threshold)
    verdict = f"{start}{shown} {sign} {text_of(threshold)} → {result.verdict}"
    return Explanation(verdict, tuple(steps.found))


def _beside(score: float, threshold: float) -> str:
    """The score in four decimals, or in full where they would show it across the threshold."""
    return short_text(score, DECIMALS, threshold)


def _negated(given: _Given, steps: _Steps) -> _Steps:
    if not getattr(given.config, "negate", False):
        return steps
    before = text_of(1 - (given.result.score or 0.0))
    found = (*steps.found, "negate: the opposite is wanted")
    return _Steps(found, f"1 {MINUS} {before}")


def _is_met(given: _Given) -> bool:
    """Whether what the scorer looks for is there, before `negate`."""
    return (given.result.score == 1.0) != getattr(given.config, "negate", False)


def _exact_match(given: _Given) -> _Steps:
    how = [] if given.config.case_sensitive else ["both texts in lower case"]
    how += ["white space at both ends ignored"] if given.config.trim else []
    same = "the texts are equal" if _is_met(given) else "the texts differ"
    return _Steps([*how, same])


def _includes(given: _Given) -> _Steps:
    chosen = selected(given.case, given.config)
    if isinstance(chosen, Result):
        return _generic(given)
    wanted = given.config.values or (text_of(chosen.expected),)
    output = _folded(text_of(chosen.output), given.config)
    is_there = [_folded(value, given.config) in output for value in wanted]
    found = [
        f"{excerpt(value)} {'found' if there else 'not found'}"
        for value, there in zip(wanted[:MAX_VALUES], is_there, strict=False)
    ]
    if len(wanted) > 1:
        found.append(f"{sum(is_there)} of {len(wanted)} found, {given.config.mode} wanted")
    return _Steps(found if given.config.case_sensitive else [*found, "upper and lower case alike"])


def _folded(text: str, config: Any) -> str:
    return text if config.case_sensitive else text.lower()


def _regex(given: _Given) -> _Steps:
    flags = f" with flags {given.config.flags}" if given.config.flags else ""
    found = "found" if _is_met(given) else "not found"
    return _Steps([f"pattern {given.config.pattern}{flags}: {found}"])


def _levenshtein(given: _Given) -> _Steps:
    config, facts = given.config, given.facts
    found = [] if config.case_sensitive else ["both texts in lower case"]
    if facts.get("truncated"):
        found.append(f"each text cut at {config.max_chars:,} characters")
    if "distance" not in facts:
        return _generic(given)
    distance, longest = facts["distance"], facts["max_length"]
    if not longest:
        return _Steps([*found, "both texts are empty"])
    edits = "1 edit" if distance == 1 else f"{distance:,} edits"
    found.append(f"{edits}, longer text {longest:,} character{'s' * (longest > 1)}")
    if config.decimals is not None and (longest - distance) * 10**config.decimals % longest:
        found.append(f"rounded half up to {config.decimals} decimals")
    return _Steps(found, f"1 {MINUS} {distance} / {longest}")


def _json_match(given: _Given) -> _Steps:
    return _Steps(["equal as JSON" if _is_met(given) else "the JSON values differ"])


def _json_similarity(given: _Given) -> _Steps:
    facts = given.facts
    if "total" not in facts:
        return _generic(given)
    matched = short_text(facts["matched"], DECIMALS, facts["total"])
    found = ["matched leaves / all leaves of the expected value"]
    values = given.case.output, given.case.expected
    if why := json_tree.why_not_by_leaf(*values, given.config, facts["matched"]):
        found.append(why)
    return _Steps(found, f"{matched} / {facts['total']}")


def _json_schema(given: _Given) -> _Steps:
    if given.config.schema is None:
        return _Steps(["the output is valid JSON"])
    met = "the output satisfies the schema"
    return _Steps([met if _is_met(given) else given.result.reason or f"not true: {met}"])


def _numeric(given: _Given) -> _Steps:
    facts, config = given.facts, given.config
    if "difference" not in facts:
        return _generic(given)
    expected, output = text_of(facts["expected"]), text_of(facts["output"])
    apart = f"|{expected} {MINUS} {output}|"
    if config.tolerance is not None:
        return _Steps([_within(given, apart)])
    if not facts["expected"] and not facts["output"]:
        return _Steps(["both numbers are 0"])
    return _Steps(
        [f"e expected, o output: 1 {MINUS} |e {MINUS} o| / (|e| + |o|)"], _closeness(facts)
    )


def _closeness(facts: Mapping[str, Json]) -> str:
    difference = text_of(facts["difference"])
    expected, output = text_of(abs(facts["expected"])), text_of(abs(facts["output"]))
    return f"1 {MINUS} {difference} / ({expected} + {output})"


def _within(given: _Given, apart: str) -> str:
    sign = "≤" if given.result.score else ">"
    allowed = text_of(given.config.tolerance)
    if given.config.relative:
        allowed += f" {TIMES} |{text_of(given.facts['expected'])}|"
    return f"{apart} = {text_of(given.facts['difference'])} {sign} {allowed}"


def _expression(given: _Given) -> _Steps:
    return _Steps([f"value of {given.config.expression}"])


def _reference_match(given: _Given) -> _Steps:
    facts = given.facts
    if "winner" not in facts:
        return _generic(given)
    count = facts.get("references", 1)  # a part of a combination keeps little
    found = ["cosine of the angle between the vectors of output and reference, 0 where negative"]
    if count > 1:
        closest = f"closest reference {facts['winner']:,} of {count:,}"
        found.append(f"{closest}: {facts['reference']}" if "reference" in facts else closest)
    if facts.get("cut_output"):
        found.append("the output is longer than the model's window and was cut")
    if cut := facts.get("cut_references"):
        found.append(f"references longer than the model's window, and so cut: {cut:,}")
    if made_by := [text_of(facts[name]) for name in ("provider", "model") if name in facts]:
        found.append(f"vectors by {' '.join(made_by)}")
    return _Steps(found, _of_references(given, count))


def _of_references(given: _Given, count: int) -> str:
    """The largest or the mean of the similarities, where all were kept and there is room."""
    values = given.facts.get("similarities", ())
    if count == 1 or not len(values) == count <= MAX_TERMS:
        return "" if count == 1 else f"{given.config.aggregation} of {count:,} similarities"
    if given.config.aggregation == "max":
        return f"max({', '.join(map(_short, values))})"
    return f"({' + '.join(map(_short, values))}) / {count}"


def _by_judge(given: _Given) -> _Steps:
    """The scale, the samples and how they reduce, and what the judge says of it."""
    facts, scale = given.facts, given.config.scale()
    if scale.key not in facts:
        return _generic(given)
    found = [f"scale: {scale.words()}", f"{scale.key}: {text_of(facts[scale.key])}"]
    samples = facts.get("samples", ())
    wanted = getattr(given.config, "samples", 1)
    if wanted > 1:
        found.append(f"{wanted} samples: {', '.join(map(text_of, samples))}")
    if reasons := facts.get("reasons"):
        found.append(f"{facts.get('model', 'the judge')}: {reasons}")
    if wanted == 1 and scale.knows(facts[scale.key]):
        return _Steps(found, scale.arithmetic(facts[scale.key]))
    is_whole = len(samples) == wanted and all(map(scale.knows, samples))  # rows cut long metadata
    if wanted > MAX_TERMS or not is_whole:
        return _Steps(found, f"{given.config.reduce} of {wanted} scores")
    scores = [(text_of(value), scale.score(value)) for value in samples]
    return _Steps(found, f"{given.config.reduce}({_listed(scores)})")


def _all(given: _Given) -> _Steps:
    return _merged(given, lambda parts: f"min({_listed(parts)})")


def _any(given: _Given) -> _Steps:
    return _merged(given, lambda parts: f"max({_listed(parts)})")


def _weighted(given: _Given) -> _Steps:
    weights = {child.name: child.weight for child in given.config.children}

    def mean(parts: _Parts) -> str:
        terms = (f"{_short(score)} {TIMES} {text_of(weights[name])}" for name, score in parts)
        total = text_of(fsum(weights[name] for name, _ in parts))
        return f"({' + '.join(terms)}) / {total}"

    return _merged(given, mean)


def _merged(given: _Given, arithmetic: Callable[[_Parts], str]) -> _Steps:
    """A combination's arithmetic, where every child's result was kept."""
    entries = given.facts.get("children", ())
    if len(entries) < len(given.config.children):
        return _Steps([f"{len(entries)} of {len(given.config.children)} parts were kept"])
    parts = [(entry["name"], entry["score"]) for entry in entries if "score" in entry]
    found = [f"{entry['name']} skipped, left out" for entry in entries if "score" not in entry]
    return _Steps(found, arithmetic(parts))


def _listed(parts: _Parts) -> str:
    return ", ".join(_short(score) for _, score in parts)


def _short(score: float) -> str:
    return short_text(score, DECIMALS)


def _generic(given: _Given) -> _Steps:
    """Any other type, a custom one too: its reason and its metadata."""
    found = [given.result.reason] if given.result.reason else []
    return _Steps(found + [f"{name}: {_told(value)}" for name, value in given.facts.items()])


def _told(value: Json) -> str:
    """A fact in few characters: a number rounded, a text as it is, else its JSON."""
    if isinstance(value, float):
        return text_of(round(value, DECIMALS) or value)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_FACT else f"{text[:MAX_FACT]}…"


_STEPS: Final[Mapping[str, Callable[[_Given], _Steps]]] = {
    "exact_match": _exact_match,
    "includes": _includes,
    "regex": _regex,
    "levenshtein": _levenshtein,
    "json_match": _json_match,
    "json_similarity": _json_similarity,
    "json_schema": _json_schema,
    "numeric": _numeric,
    "expression": _expression,
    "reference_match": _reference_match,
    "factuality": _by_judge,
    "llm_judge": _by_judge,
    "all": _all,
    "any": _any,
    "weighted": _weighted,
}


def _leaves(given: _Given) -> tuple[Leaf, ...]:
    return tuple(json_tree.leaf_table(given.case.output, given.case.expected, given.config))


def _target(config: Any) -> str | None:
    key = getattr(config, "target_output_key", WHOLE)
    return key if isinstance(key, str) else None


def _children(given: _Given) -> tuple[Child, ...]:
    """Each child of a combination whose result was kept, explained by its own type."""
    if not isinstance(given.config, CombineConfig):
        return ()
    children = {child.name: child.scorer for child in given.config.children}
    entries = [each for each in given.facts.get("children", ()) if each["name"] in children]
    return tuple(_child(children[entry["name"]], given.case, entry) for entry in entries)


def _child(scorer: BoundScorer, case: Case, entry: Mapping[str, Json]) -> Child:
    told = retold(scorer, case, _kept(entry))
    return Child(entry["name"], _explained(scorer, case, told))


def _kept(entry: Mapping[str, Json]) -> Result:
    """A child's result as the metadata of its combination keeps it."""
    return Result(
        entry["status"],
        entry.get("score"),
        entry.get("verdict"),
        entry.get("reason", ""),
        entry.get("metadata", {}),
    )
