"""The explanation of a score: the arithmetic in words, for every scorer type.

It is made from the stored result and the frozen config. Only what is cheap and certain, such as
which values an output includes or the leaf table, is computed again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final, NamedTuple

from scoring.core.config import Config
from scoring.core.configured import ConfiguredScorer, configure_scorer
from scoring.core.contract import Case, ConfigError, Json, Result
from scoring.core.explain.child_results import complete_child_result, complete_child_results
from scoring.core.explain.evidence import (
    JudgeEvidence,
    Similarity,
    judge_evidence,
    similarity_evidence,
)
from scoring.core.json_text import to_text
from scoring.core.registry import Derivation, StoredResult
from scoring.core.scorers import json_comparison
from scoring.core.scorers.answers import (
    ANSWER_FACTS,
    AnswersConfig,
    explain_answer,
    winning_case,
)
from scoring.core.scorers.combinations import CombineConfig
from scoring.core.scorers.json_leaves import Leaf
from scoring.core.scorers.selection import EXTRACTION_FACTS, WHOLE, TargetConfig, explain_extraction
from scoring.core.wording.numbers import MINUS, SCORE_DECIMALS, score_text

MAX_FACT: Final = 200  # characters of one entry of the metadata
_TOLD_APART: Final = ANSWER_FACTS.union(EXTRACTION_FACTS)  # in sentences of their own


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
    judgement: JudgeEvidence | None = None


class LaterVerdict(NamedTuple):
    """A threshold later than that of scoring, and pass or fail by it."""

    threshold: float
    verdict: str


def explain(
    type_name: str,
    config: Mapping[str, Json],
    threshold: float,
    case: Case,
    result: Result,
    later: LaterVerdict | None = None,
) -> Explanation:
    """The explanation of a stored result of any type, also of one that is not installed.

    With `later` the verdict is the one by that threshold, beside the stored one.
    """
    try:
        scorer = configure_scorer(type_name, config, threshold)
    except ConfigError:  # the type's package is gone, or its config has changed since
        return _explain_verdict(
            _describe_facts(StoredResult(None, case, result)), result, threshold, later
        )
    return _explain(scorer, case, result, later)


def _explain(
    scorer: ConfiguredScorer, case: Case, result: Result, later: LaterVerdict | None = None
) -> Explanation:
    result = complete_child_results(scorer, case, result)
    answered = _case_answered(scorer.config, case, result)
    stored = StoredResult(scorer.config, answered or case, result)
    if result.score is None or result.code:
        explanation = _problem(result)
    else:
        derivation = _derive(scorer, stored) if answered else _describe_facts(stored)
        explanation = _explain_verdict(derivation, result, scorer.threshold, later)._replace(
            similarities=similarity_evidence(scorer.config, case, result)
        )
    is_negated = getattr(scorer.config, "negate", False)
    answer = explain_answer(result, is_negated=is_negated)
    extracted = (
        explain_extraction(scorer.config, result) if isinstance(scorer.config, TargetConfig) else ()
    )
    explanation = explanation._replace(found=(*answer, *extracted, *explanation.found))
    leaves = _leaves(stored) if answered else ()
    target = getattr(scorer.config, "target_output_key", WHOLE) if leaves else WHOLE
    return explanation._replace(
        leaves=leaves,
        target=target if isinstance(target, str) else None,
        children=_children(stored._replace(case=case)),
        judgement=judge_evidence(scorer.config, result),
    )


def _case_answered(config: Config, case: Case, result: Result) -> Case | None:
    """The case with the one answer that decided the result; None where that is not known."""
    return winning_case(case, config, result) if isinstance(config, AnswersConfig) else case


def _problem(result: Result) -> Explanation:
    """Results that no threshold changes: errors, skips and forced fails."""
    if result.score is None:
        verdict = f"{result.status}: no score, left out of mean and pass rate"
    else:
        verdict = f"{to_text(result.score)}, whatever the threshold → {result.verdict}"
    return Explanation(verdict, (result.reason,) if result.reason else ())


def _explain_verdict(
    derivation: Derivation, result: Result, threshold: float, later: LaterVerdict | None
) -> Explanation:
    score = result.score or 0.0
    start = f"{derivation.formula} = " if derivation.formula else ""
    limit, verdict = later or (threshold, result.verdict)
    sign = "≥" if score >= limit else "<"
    line = f"{start}{score_text(score, limit)} {sign} {to_text(limit)} → {verdict}"
    if later:
        line += f" (re-labelled; scored with {to_text(threshold)} → {result.verdict})"
    return Explanation(line, tuple(derivation.findings))


def _derive(scorer: ConfiguredScorer, stored: StoredResult) -> Derivation:
    derivation = scorer.type.explain(stored) if scorer.type.explain is not None else None
    derivation = derivation or _describe_facts(stored)
    if not getattr(stored.config, "negate", False):
        return derivation
    before = to_text(1 - (stored.result.score or 0.0))
    findings = (*derivation.findings, "negate: the opposite is wanted")
    return Derivation(findings, f"1 {MINUS} {before}")


def _describe_facts(stored: StoredResult) -> Derivation:
    """The reason and the metadata, for a type without an explanation of its own."""
    findings = [stored.result.reason] if stored.result.reason else []
    facts = [
        f"{name}: {_fact_text(value)}"
        for name, value in stored.facts.items()
        if name not in _TOLD_APART or stored.config is None
    ]
    return Derivation(findings + facts)


def _fact_text(value: Json) -> str:
    """A fact in few characters: a number rounded, a text as it is, else its JSON."""
    if isinstance(value, float):
        return to_text(round(value, SCORE_DECIMALS) or value)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_FACT else f"{text[:MAX_FACT]}…"


def _leaves(stored: StoredResult) -> tuple[Leaf, ...]:
    """Every leaf of a JSON comparison; empty for other types and where none were compared."""
    if not isinstance(stored.config, json_comparison.JsonSimilarityConfig):
        return ()
    if stored.result.code and "total" not in stored.facts:
        return ()
    return tuple(
        json_comparison.leaf_table(stored.case.output, stored.case.expected, stored.config)
    )


def _children(stored: StoredResult) -> tuple[Child, ...]:
    """Each child of a combination whose result was stored, explained by its own type."""
    if not isinstance(stored.config, CombineConfig):
        return ()
    scorers = {child.name: child.scorer for child in stored.config.children}
    children = []
    for entry in stored.facts.get("children", ()):
        if scorer := scorers.get(entry["name"]):
            result = complete_child_result(scorer, stored.case, _stored_result(entry))
            children.append(Child(entry["name"], _explain(scorer, stored.case, result)))
    return tuple(children)


def _stored_result(entry: Mapping[str, Json]) -> Result:
    """A child's result as the metadata of its combination keeps it."""
    return Result(
        entry["status"],
        entry.get("score"),
        entry.get("verdict"),
        entry.get("reason", ""),
        entry.get("metadata", {}),
    )
