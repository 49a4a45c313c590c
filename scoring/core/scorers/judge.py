"""Scorers that ask a model: is the answer factual, does it satisfy a rubric?

Each case is asked `samples` times. A score needs all of them: one that did not come, or that says
nothing usable, makes the case an error with that sample's code, and a refusal makes it skipped.
So a score never rests on the samples that happened to arrive.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum
from statistics import median
from typing import Annotated, Final, Literal, NamedTuple, TypeVar

from annotated_types import Ge, Le, MaxLen

from scoring.core import services
from scoring.core.config import About
from scoring.core.contract import (
    Case,
    CaseProblem,
    ConfigError,
    Json,
    Result,
    error,
    scored,
    skipped,
)
from scoring.core.json_text import text_of
from scoring.core.judge.prompt import messages
from scoring.core.judge.reply import Said, Unusable, read
from scoring.core.judge.scale import Choices, Range, Scale
from scoring.core.selection import ReferenceConfig, TargetConfig, faulty, selected
from scoring.core.services import ENVIRONMENT, Answer, Available, Fault, Message, Question, Reply

Reduce = Literal["median", "mean", "majority"]

MAX_SAMPLES: Final = 20
MAX_LABELS: Final = 50
MAX_LABEL: Final = 100  # characters
MAX_LIMIT: Final = 1e9  # of a range
MAX_RUBRIC: Final = 50_000  # characters
MAX_REASONS: Final = 500  # characters kept of a judge's reasons
MAX_REASON: Final = 200  # characters of a result's reason

FACTUAL: Final[Mapping[str, float]] = {"A": 0.4, "B": 0.6, "C": 1.0, "D": 0.0, "E": 1.0}

FACTUALITY: Final = """\
Compare the facts in `output` with the facts in `expected`, which is right. Leave style, grammar, \
punctuation and order aside. Choose:
A: the facts of `output` are some of those of `expected`, and contradict none of them.
B: `output` has all the facts of `expected` and more, and contradicts none of them.
C: `output` has the same facts as `expected`.
D: `output` contradicts `expected`.
E: they differ, but not in a way that matters to the facts."""


@dataclass(frozen=True, kw_only=True)
class ModelConfig(TargetConfig):
    """What every judge has to know: whom to ask."""

    model: Annotated[
        str,
        About("Model", "The judge, as its endpoint names it, for example `gpt-4o-mini`.", "model"),
    ]
    connection: Annotated[
        str | None,
        About(
            "Connection",
            "The endpoint to call. Empty: the team's default connection when the scorer is saved,"
            " else the endpoint of the site's environment.",
            "connection",
        ),
    ] = None

    hidden_metadata: Annotated[
        tuple[str, ...],
        About(
            "Hidden metadata",
            "Keys of the case's metadata that the judge is not shown, such as a person's label"
            " its verdicts are to be compared with.",
        ),
    ] = ()

    def check(self) -> None:
        super().check()
        if not self.model.strip():
            raise ConfigError({"model": ["is required"]})


@dataclass(frozen=True, kw_only=True)
class FactualityConfig(ModelConfig, ReferenceConfig):
    choices: Annotated[
        dict[str, float],
        About(
            "Scores of the choices",
            "Other scores than A subset 0.4, B superset 0.6, C same facts 1, D contradiction 0,"
            " E differences that do not matter 1. Label A to E, score from 0 to 1.",
        ),
    ] = field(default_factory=dict)

    def check(self) -> None:
        super().check()
        if unknown := [label for label in self.choices if label not in FACTUAL]:
            raise ConfigError({"choices": [f"{unknown[0]!r} is none of {', '.join(FACTUAL)}"]})
        _check_scores(self.choices)

    def scale(self) -> Scale:
        return Choices({**FACTUAL, **self.choices})


@dataclass(frozen=True, kw_only=True)
class LlmJudgeConfig(ModelConfig):
    rubric: Annotated[
        str,
        MaxLen(MAX_RUBRIC),
        About(
            "Rubric",
            "What to judge by. The judge sees `input`, `output`, `expected`, `references` and"
            " `metadata` of the case. Say what each choice, or each end of the range, means.",
            "long text",
        ),
    ]
    choices: Annotated[
        dict[str, float] | None,
        About(
            "Choices",
            "Two or more labels, each with a score from 0 to 1, such as good 1 and bad 0."
            " Give either choices or a range.",
        ),
    ] = None
    range: Annotated[
        tuple[float, float] | None,
        About(
            "Range",
            "The lowest and the highest number, such as 1 and 5; mapped to 0 and 1.",
        ),
    ] = None
    samples: Annotated[
        int,
        Ge(1),
        Le(MAX_SAMPLES),
        About("Samples", "How often each case is asked; all replies are needed for a score."),
    ] = 1
    reduce: Annotated[
        Reduce,
        About(
            "Reduce",
            "How several samples become one score. `majority` is for choices: the most frequent"
            " one counts, on a tie the one with the lower score.",
        ),
    ] = "median"

    def check(self) -> None:
        super().check()
        if not self.rubric.strip():
            raise ConfigError({"rubric": ["is required"]})
        if (self.choices is None) == (self.range is None):
            raise ConfigError({"choices": ["give either choices or a range"]})
        if self.choices is not None:
            _check_labels(self.choices)
        if self.range is not None:
            _check_range(self.range, self.reduce)

    def scale(self) -> Scale:
        return Range(*self.range) if self.range is not None else Choices(self.choices or {})


AnyModelConfig = TypeVar("AnyModelConfig", bound=ModelConfig)


def settle(config: AnyModelConfig, available: Available) -> AnyModelConfig:
    """The config with its connection chosen, if there is one to choose. Raises ConfigError."""
    known = [*available.connections, *[ENVIRONMENT] * available.has_environment_key]
    if config.connection is None:
        chosen = available.default_connection or (known[-1] if known else None)
        return replace(config, connection=chosen)
    if config.connection not in known:
        text = f"the team has no connection {config.connection!r}"
        raise ConfigError({"connection": [text]})
    return config


def factuality(cases: Sequence[Case], config: FactualityConfig) -> list[Result]:
    """How the facts of the output relate to those of the expected value, by choice."""
    return _judged(cases, config, _Plan(FACTUALITY, config.scale()))


def llm_judge(cases: Sequence[Case], config: LlmJudgeConfig) -> list[Result]:
    """The verdict of a model by a rubric: a choice, or a number on a range."""
    plan = _Plan(config.rubric.strip(), config.scale(), config.samples, config.reduce)
    return _judged(cases, config, plan)


class _Plan(NamedTuple):
    """What to ask, and how the replies become a score."""

    task: str
    scale: Scale
    samples: int = 1
    reduce: Reduce = "median"


class _Sample(NamedTuple):
    """A usable reply: what was said, and what it scores."""

    said: Said
    score: float


def _judged(cases: Sequence[Case], config: ModelConfig, plan: _Plan) -> list[Result]:
    prompts = [_prompt(case, config, plan) for case in cases]
    asked = [prompt for prompt in prompts if not isinstance(prompt, Result)]
    questions = [each for prompt in asked for each in _questions(prompt, config, plan)]
    answers = services.current().ask(questions) if questions else []
    rows = (answers[at : at + plan.samples] for at in range(0, len(answers), plan.samples))
    return [
        prompt if isinstance(prompt, Result) else _result(next(rows), plan) for prompt in prompts
    ]


def _prompt(case: Case, config: ModelConfig, plan: _Plan) -> tuple[Message, ...] | Result:
    chosen = selected(case, config)
    if isinstance(chosen, Result):
        return chosen
    hidden = config.hidden_metadata
    seen = {key: value for key, value in chosen.metadata.items() if key not in hidden}
    try:
        return messages(plan.task, plan.scale, chosen._replace(metadata=seen))
    except CaseProblem as problem:
        return faulty(problem)


def _questions(prompt: tuple[Message, ...], config: ModelConfig, plan: _Plan) -> list[Question]:
    """One question a sample; the numbers keep equal ones apart in the cache."""
    asked = Question(
        model=config.model.strip(),
        messages=prompt,
        connection=config.connection,
        schema=plan.scale.schema(),
        parameters=(("temperature", 0),),
    )
    return [replace(asked, sample=number) for number in range(plan.samples)]


def _result(answers: Sequence[Answer], plan: _Plan) -> Result:
    """One result of a case's answers; an error comes before a refusal."""
    read_all = [_read(answer, plan.scale) for answer in answers]
    costs = _costs(answers)
    bad = [(place, each) for place, each in enumerate(read_all) if isinstance(each, Unusable)]
    if not bad:
        return _scored([each for each in read_all if isinstance(each, _Sample)], costs, plan)
    place, first = min(bad, key=lambda found: found[1].code == "refused")
    where = f"sample {place + 1} of {plan.samples}: " if plan.samples > 1 else ""
    settle_as = skipped if first.code == "refused" else error
    return settle_as(first.code, _one_line(where + first.text), costs)


def _read(answer: Answer, scale: Scale) -> _Sample | Unusable:
    if isinstance(answer, Fault):
        return Unusable(answer.code, answer.text)
    said = read(answer, scale.schema())
    return said if isinstance(said, Unusable) else _Sample(said, scale.score(said.value))


def _scored(samples: Sequence[_Sample], costs: Mapping[str, Json], plan: _Plan) -> Result:
    score = _reduced(samples, plan.reduce)
    typical = min(samples, key=lambda sample: (abs(sample.score - score), sample.score))
    value: Json = typical.said.value
    if isinstance(plan.scale, Range):
        value = plan.scale.number(score)
    reasons = _one_line(typical.said.reasons)
    metadata = {
        plan.scale.key: value,
        "reasons": reasons[:MAX_REASONS],
        **costs,
        "samples": [sample.said.value for sample in samples],
    }
    return scored(score, f"{text_of(value)}: {reasons}"[:MAX_REASON], metadata)


def _reduced(samples: Sequence[_Sample], reduce: Reduce) -> float:
    scores = [sample.score for sample in samples]
    if reduce == "mean":
        return fsum(scores) / len(scores)
    if reduce == "median":
        return float(median(scores))
    votes = Counter(sample.said.value for sample in samples)
    most = max(votes.values())
    return min(sample.score for sample in samples if votes[sample.said.value] == most)


def _costs(answers: Sequence[Answer]) -> dict[str, Json]:
    """What the answers took; only what is known of all of them is summed up."""
    replies = [answer for answer in answers if isinstance(answer, Reply)]
    facts: dict[str, Json] = {"attempts": sum(answer.attempts for answer in answers)}
    if not replies:
        return facts
    facts |= {
        "model": replies[0].model,
        "tokens_in": _total([reply.tokens_in for reply in replies]),
        "tokens_out": _total([reply.tokens_out for reply in replies]),
        "cost_usd": _total([0.0 if reply.is_cached else reply.cost_usd for reply in replies]),
        "latency_ms": _total([reply.latency_ms for reply in replies]),
        "cached": all(reply.is_cached for reply in replies),
        "refs": [reply.ref for reply in replies if reply.ref],
    }
    return facts


def _total(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _check_scores(choices: Mapping[str, float]) -> None:
    for label, score in choices.items():
        if not 0 <= score <= 1:
            text = f"the score of {label!r} is {text_of(score)}; it must be from 0 to 1"
            raise ConfigError({"choices": [text]})


def _check_labels(choices: Mapping[str, float]) -> None:
    if not 2 <= len(choices) <= MAX_LABELS:
        raise ConfigError({"choices": [f"name 2 to {MAX_LABELS} labels"]})
    for label in choices:
        if label != label.strip() or not 1 <= len(label) <= MAX_LABEL:
            text = f"a label is 1 to {MAX_LABEL} characters without white space at its ends"
            raise ConfigError({"choices": [text]})
    _check_scores(choices)


def _check_range(limits: tuple[float, float], reduce: Reduce) -> None:
    low, high = limits
    if not -MAX_LIMIT <= low < high <= MAX_LIMIT:
        text = "give the lower limit, then the higher one, both within a billion of 0"
        raise ConfigError({"range": [text]})
    if reduce == "majority":
        raise ConfigError({"reduce": ["majority is for choices; take median or mean"]})
