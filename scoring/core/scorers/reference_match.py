"""The scorer of similar meaning: the cosine of the vectors of output and references."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import floor, fsum
from typing import TYPE_CHECKING, Annotated, Final, Literal, NamedTuple

from annotated_types import MaxLen

from scoring.core import services
from scoring.core.config import About
from scoring.core.configured import round_score
from scoring.core.contract import (
    Case,
    CaseProblem,
    ConfigError,
    Json,
    OutsideProblem,
    Result,
    ServiceError,
    error,
    forced_fail,
    scored,
)
from scoring.core.embeddings.errors import MISSING
from scoring.core.embeddings.model_folders import folder_problem
from scoring.core.json_text import to_text
from scoring.core.registry import (
    MAX_FORMULA_TERMS,
    Derivation,
    Example,
    ScorerType,
    StoredResult,
)
from scoring.core.scorers.selection import (
    NEEDS_EXPECTED,
    ReferenceConfig,
    expected_text,
    extract_expected,
    problem_result,
    quote_excerpt,
    select_output,
    select_target,
)
from scoring.core.services import AvailableServices, Provider, Vectors
from scoring.core.wording.numbers import score_text

if TYPE_CHECKING:
    import numpy as np

DECIMALS: Final = 6
SHOWN_DECIMALS: Final = 4
MAX_REFERENCES: Final = 1_000
MAX_SIMILARITIES: Final = 40  # kept with a result; rows have room for about a kilobyte
MAX_MODEL_NAME: Final = 120
DEFAULT_MODELS: Final[Mapping[Provider, str]] = {
    "openai": "text-embedding-3-small",
    "local": "all-MiniLM-L6-v2",
}


@dataclass(frozen=True, kw_only=True)
class ReferenceMatchConfig(ReferenceConfig):
    references: Annotated[
        tuple[str, ...],
        MaxLen(MAX_REFERENCES),
        About(
            "References",
            "One a line. Used for the cases that have none of their own; without any, the"
            " expected value is the reference.",
        ),
    ] = ()
    aggregation: Annotated[
        Literal["max", "mean"],
        About("Aggregation", "`max`: the closest reference counts. `mean`: all count alike."),
    ] = "max"
    embedding_provider: Annotated[
        Provider | None,
        About(
            "Embedding provider",
            "`openai`: an endpoint makes the vectors. `local`: this site does. Empty: `openai`"
            " where the team has a connection or the site a key, else `local`.",
            "provider",
        ),
    ] = None
    model_name: Annotated[
        str | None,
        About(
            "Model name",
            "Empty: `text-embedding-3-small` of an endpoint, `all-MiniLM-L6-v2` locally.",
            "model",
        ),
    ] = None
    connection: Annotated[
        str | None,
        About(
            "Connection",
            "The connection `openai` goes through. Empty: the team's default one.",
            "connection",
        ),
    ] = None


def resolve_defaults(
    config: ReferenceMatchConfig, available: AvailableServices
) -> ReferenceMatchConfig:
    """The config with provider, model and connection chosen. Raises ConfigError.

    Without a provider it is `openai` where a connection is named or there is a default one.
    """
    has_endpoint = config.connection or available.default_endpoint
    provider = config.embedding_provider or ("openai" if has_endpoint else "local")
    model = config.model_name or DEFAULT_MODELS[provider]
    connection = None
    if provider == "openai":
        connection = available.choose_connection(config.connection or None)
    elif not available.has_local_embeddings:
        raise ConfigError({"embedding_provider": [MISSING]})
    elif problem := folder_problem(model):
        raise ConfigError({"model_name": [problem]})
    return replace(config, embedding_provider=provider, model_name=model, connection=connection)


class _Texts(NamedTuple):
    """The texts of one case that are compared."""

    output: str
    references: tuple[str, ...]


def reference_match(cases: Sequence[Case], config: ReferenceMatchConfig) -> list[Result]:
    """Cosine with each reference, clamped to 0..1, then the largest or the mean of them.

    All texts of all cases are embedded in one request, each distinct one once.
    """
    selected = [select_texts(case, config) for case in cases]
    batch = [texts for texts in selected if isinstance(texts, _Texts)]
    if not batch:
        return [texts for texts in selected if isinstance(texts, Result)]
    try:
        comparison = _compare(batch, config)
    except ServiceError as fault:
        failure = error(getattr(fault, "code", "embedding_failed"), fault.text)
        return [texts if isinstance(texts, Result) else failure for texts in selected]
    return [texts if isinstance(texts, Result) else comparison.score(texts) for texts in selected]


def select_texts(case: Case, config: ReferenceMatchConfig) -> _Texts | Result:
    """The texts to compare: own references, else the config's, else the expected value."""
    try:
        if references := case.references or config.references:
            selected: Case | Result = case._replace(output=select_output(case.output, config))
            references = tuple(to_text(extract_expected(text, config)) for text in references)
        else:
            selected = select_target(case, config)
            references = () if isinstance(selected, Result) else _as_references(selected.expected)
        if isinstance(selected, Result):
            return selected
        if not references:
            return forced_fail("expected_missing", "no references and no expected output")
        return _Texts(to_text(selected.output), references)
    except CaseProblem as problem:
        return problem_result(problem)


def _as_references(expected: Json) -> tuple[str, ...]:
    """An expected text, or a list of them."""
    if not isinstance(expected, list):
        return (expected_text(expected),)
    if len(expected) > MAX_REFERENCES:
        text = f"expected has {len(expected):,} references, more than {MAX_REFERENCES:,}"
        raise OutsideProblem("too_many_references", text)
    return tuple(expected_text(item) for item in expected if item is not None)


def _compare(batch: Sequence[_Texts], config: ReferenceMatchConfig) -> _Comparison:
    if config.embedding_provider is None:  # never saved
        config = resolve_defaults(config, services.default_services().available())
    provider = config.embedding_provider or "local"
    rows: dict[str, int] = {}
    for texts in batch:
        for text in (texts.output, *texts.references):
            rows.setdefault(text, len(rows))
    vectors = services.current_services().embed(
        list(rows),
        provider=provider,
        model=config.model_name or DEFAULT_MODELS[provider],
        connection=config.connection,
    )
    return _Comparison(config.aggregation, provider, rows, vectors)


class _Comparison(NamedTuple):
    """The vectors of a batch. `rows` maps each text to its row of the matrix."""

    aggregation: Literal["max", "mean"]
    provider: Provider
    rows: Mapping[str, int]
    vectors: Vectors

    def score(self, texts: _Texts) -> Result:
        similarities = self._similarities(texts)
        score = best = max(similarities)
        winner = similarities.index(best)
        if self.aggregation == "mean":
            score = fsum(similarities) / len(similarities)
        cut = self._count_cuts(texts)
        reason = _reason(self.aggregation, similarities, winner, score)
        facts = {
            "similarities": [_round(value) for value in similarities[:MAX_SIMILARITIES]],
            "references": len(similarities),
            "winner": winner + 1,
            "similarity": _round(best),
            "reference": quote_excerpt(texts.references[winner]),
            "model": self.vectors.model[:MAX_MODEL_NAME],
            "provider": self.provider,
            **cut,
        }
        return scored(score, reason + ("; cut at the model's window" if cut else ""), facts)

    def _similarities(self, texts: _Texts) -> list[float]:
        """Cosines in 64 bits, so that a vector's with itself is 1 to the ninth decimal."""
        output = self._matrix((texts.output,))[0]
        cosines = self._matrix(texts.references) @ output
        return [min(1.0, max(0.0, float(cosine))) for cosine in cosines]

    def _matrix(self, texts: Sequence[str]) -> np.ndarray:
        rows = [self.rows[text] for text in texts]
        return self.vectors.matrix[rows].astype("float64")

    def _count_cuts(self, texts: _Texts) -> dict[str, Json]:
        """How many texts were longer than the model's window; empty where none was."""
        is_cut = self.vectors.is_cut
        references = sum(is_cut[self.rows[text]] for text in texts.references)
        cut = {"cut_output": is_cut[self.rows[texts.output]], "cut_references": references}
        return {name: number for name, number in cut.items() if number}


def _reason(aggregation: str, similarities: Sequence[float], winner: int, score: float) -> str:
    count = len(similarities)
    if count == 1:
        return f"similarity to the reference: {floor_text(score)}"
    closest = f"closest reference {winner + 1} of {count}: {floor_text(similarities[winner])}"
    if aggregation == "max":
        return closest
    return f"mean of {count} references: {floor_text(score)}; {closest}"


def floor_text(similarity: float) -> str:
    """Four decimals, rounded down, so that a fail never shows as its threshold."""
    scale = 10**SHOWN_DECIMALS
    return to_text(floor(_round(similarity) * scale + 1e-6) / scale)


def _round(similarity: float) -> float:
    return round_score(similarity, DECIMALS)


def explain_reference_match(stored: StoredResult) -> Derivation | None:
    facts = stored.facts
    if "winner" not in facts:
        return None
    count = facts.get("references", 1)  # few facts are stored of a part of a combination
    findings = ["cosine of the angle between the vectors of output and reference, 0 where negative"]
    if count > 1:
        closest = f"closest reference {facts['winner']:,} of {count:,}"
        findings.append(f"{closest}: {facts['reference']}" if "reference" in facts else closest)
    if facts.get("cut_output"):
        findings.append("the output is longer than the model's window and was cut")
    if cut := facts.get("cut_references"):
        findings.append(f"references longer than the model's window, and so cut: {cut:,}")
    if made_by := [to_text(facts[name]) for name in ("provider", "model") if name in facts]:
        findings.append(f"vectors by {' '.join(made_by)}")
    return Derivation(findings, _formula(stored, count))


def _formula(stored: StoredResult, count: int) -> str:
    """The largest or the mean of the similarities, written out where all were stored."""
    values = stored.facts.get("similarities", ())
    if count == 1:
        return ""
    if not len(values) == count <= MAX_FORMULA_TERMS:
        return f"{stored.config.aggregation} of {count:,} similarities"
    if stored.config.aggregation == "max":
        return f"max({', '.join(map(score_text, values))})"
    return f"({' + '.join(map(score_text, values))}) / {count}"


SCORER_TYPES: Final = (
    ScorerType(
        name="reference_match",
        label="Reference match",
        summary="How close in meaning the output is to its references, by embeddings.",
        use_when="The meaning counts and the words do not, and it is to cost little.",
        config=ReferenceMatchConfig,
        score=reference_match,
        default_threshold=0.7,
        family="embedding",
        decimals=DECIMALS,
        resolve_defaults=resolve_defaults,
        explain=explain_reference_match,
        semantics=(
            "Output and references become vectors, and the score is the cosine of the "
            "angle between them, 0 where it is negative: the largest of all references, "
            "or with `aggregation` mean, their mean.",
            "References are the case's own, else those of the config, else the expected value.",
            "An embedding sees topics better than negations: where one matters, add an exact type.",
            NEEDS_EXPECTED,
        ),
        examples=(
            Example(
                {"embedding_provider": "local"},
                Case("Paris", "Paris"),
                1.0,
                "The texts are the same.",
            ),
            Example(
                {"embedding_provider": "local"},
                Case("The bakery is closed.", ["Our bakery does not open today.", "It rains."]),
                0.744555,
                "The closer of two references counts; they share a meaning, not words.",
            ),
            Example(
                {
                    "embedding_provider": "local",
                    "aggregation": "mean",
                    "references": ["Returns are possible for a month.", "Refunds take five days."],
                },
                Case("You can return it within 30 days."),
                0.569199,
                "The mean of both similarities.",
            ),
            Example(
                {"embedding_provider": "local"},
                Case("You can return it.", "You cannot return it."),
                0.888214,
                "Vectors hardly see a negation: use a judge or an exact type where one matters.",
            ),
        ),
    ),
)
