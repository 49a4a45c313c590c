"""The scorer that compares meanings: the cosine of an output's vector with its references'."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import floor, fsum
from typing import TYPE_CHECKING, Annotated, Final, Literal, NamedTuple

from annotated_types import MaxLen

from scoring.core import services
from scoring.core.config import About
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
from scoring.core.embed.faults import MISSING
from scoring.core.json_text import text_of
from scoring.core.selection import (
    ReferenceConfig,
    TargetConfig,
    excerpt,
    expected_text,
    faulty,
    selected,
)
from scoring.core.services import ENVIRONMENT, Available, Provider, Vectors

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


def settle(config: ReferenceMatchConfig, available: Available) -> ReferenceMatchConfig:
    """The config with provider, model and connection chosen. Raises ConfigError."""
    known = [*available.connections, *[ENVIRONMENT] * available.has_environment_key]
    chosen = config.connection or available.default_connection or (known[-1] if known else None)
    provider = config.embedding_provider or ("openai" if chosen else "local")
    model = config.model_name or DEFAULT_MODELS[provider]
    if provider == "local":
        chosen = None
        if not available.has_local_embeddings:
            raise ConfigError({"embedding_provider": [MISSING]})
    elif config.connection and config.connection not in known:
        raise ConfigError({"connection": [f"the team has no connection {config.connection!r}"]})
    return replace(config, embedding_provider=provider, model_name=model, connection=chosen)


class _Texts(NamedTuple):
    """What of one case is compared."""

    output: str
    references: tuple[str, ...]


def reference_match(cases: Sequence[Case], config: ReferenceMatchConfig) -> list[Result]:
    """Cosine with each reference, clamped to 0..1, then the largest or the mean of them.

    All texts of all cases are embedded in one request, each distinct one once.
    """
    wanted = [texts_of(case, config) for case in cases]
    chosen = [texts for texts in wanted if isinstance(texts, _Texts)]
    if not chosen:
        return [texts for texts in wanted if isinstance(texts, Result)]
    try:
        compare = _comparison(chosen, config)
    except ServiceError as fault:
        failed = error(getattr(fault, "code", "embedding_failed"), fault.text)
        return [texts if isinstance(texts, Result) else failed for texts in wanted]
    return [texts if isinstance(texts, Result) else compare.result(texts) for texts in wanted]


def texts_of(case: Case, config: ReferenceMatchConfig) -> _Texts | Result:
    """The texts to compare: own references, else the config's, else the expected value."""
    try:
        if references := case.references or config.references:
            part = TargetConfig(target_output_key=config.target_output_key)
            found = selected(case._replace(expected=None), part)
        else:
            found = selected(case, config)
            references = () if isinstance(found, Result) else _as_references(found.expected)
        if isinstance(found, Result):
            return found
        if not references:
            return forced_fail("expected_missing", "no references and no expected output")
        return _Texts(text_of(found.output), tuple(references))
    except CaseProblem as problem:
        return faulty(problem)


def _as_references(expected: Json) -> tuple[str, ...]:
    """An expected text, or a list of them."""
    if not isinstance(expected, list):
        return (expected_text(expected),)
    if len(expected) > MAX_REFERENCES:
        text = f"expected has {len(expected):,} references, more than {MAX_REFERENCES:,}"
        raise OutsideProblem("too_many_references", text)
    return tuple(expected_text(item) for item in expected if item is not None)


def _comparison(chosen: Sequence[_Texts], config: ReferenceMatchConfig) -> _Comparison:
    if config.embedding_provider is None:  # never saved, so never settled
        from scoring.core.standalone import available

        config = settle(config, available())
    provider = config.embedding_provider or "local"
    rows: dict[str, int] = {}
    for texts in chosen:
        for text in (texts.output, *texts.references):
            rows.setdefault(text, len(rows))
    vectors = services.current().embed(
        list(rows),
        provider=provider,
        model=config.model_name or DEFAULT_MODELS[provider],
        connection=config.connection,
    )
    return _Comparison(config.aggregation, provider, rows, vectors)


class _Comparison(NamedTuple):
    """The vectors of a batch, and what of them makes a score. `rows` are texts' places."""

    aggregation: Literal["max", "mean"]
    provider: Provider
    rows: Mapping[str, int]
    vectors: Vectors

    def result(self, texts: _Texts) -> Result:
        similarities = self._similarities(texts)
        winner = similarities.index(max(similarities))
        score = similarities[winner]
        if self.aggregation == "mean":
            score = fsum(similarities) / len(similarities)
        cut = self._cut(texts)
        reason = _reason(self.aggregation, similarities, winner, score)
        facts = {
            "similarities": [_rounded(each) for each in similarities[:MAX_SIMILARITIES]],
            "references": len(similarities),
            "winner": winner + 1,
            "similarity": _rounded(similarities[winner]),
            "reference": excerpt(texts.references[winner]),
            "model": self.vectors.model[:MAX_MODEL_NAME],
            "provider": self.provider,
            **cut,
        }
        return scored(score, reason + ("; cut at the model's window" if cut else ""), facts)

    def _similarities(self, texts: _Texts) -> list[float]:
        """In 64 bits, so that a vector and itself are 1 apart from the ninth decimal on."""
        output = self._matrix((texts.output,))[0]
        cosines = self._matrix(texts.references) @ output
        return [min(1.0, max(0.0, float(cosine))) for cosine in cosines]

    def _matrix(self, texts: Sequence[str]) -> np.ndarray:
        places = [self.rows[text] for text in texts]
        return self.vectors.matrix[places].astype("float64")

    def _cut(self, texts: _Texts) -> dict[str, Json]:
        """What was longer than the model's window; nothing where all was read to its end."""
        is_cut = self.vectors.is_cut
        references = sum(is_cut[self.rows[text]] for text in texts.references)
        cut = {"cut_output": is_cut[self.rows[texts.output]], "cut_references": references}
        return {name: number for name, number in cut.items() if number}


def _reason(aggregation: str, similarities: Sequence[float], winner: int, score: float) -> str:
    count = len(similarities)
    of = f" {winner + 1} of {count}" if count > 1 else ""
    closest = f"closest reference{of}: {shown(similarities[winner])}"
    if aggregation == "max" or count == 1:
        return closest if count > 1 else f"similarity to the reference: {shown(score)}"
    return f"mean of {count} references: {shown(score)}; {closest}"


def shown(similarity: float) -> str:
    """Four decimals, cut off rather than rounded, so that none looks as if it passed."""
    scale = 10**SHOWN_DECIMALS
    return text_of(floor(_rounded(similarity) * scale + 1e-6) / scale)


def _rounded(similarity: float) -> float:
    scale: int = 10**DECIMALS
    return floor(similarity * scale + 0.5) / scale
