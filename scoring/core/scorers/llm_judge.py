"""Scorers that ask a model: is the answer factual, does it satisfy a rubric?

Each case is asked `samples` times. A score needs all replies: one that is missing or unusable
makes the case an error with that sample's code, and a refusal makes it skipped. So no score is
computed from only those samples that happened to arrive.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from math import fsum
from statistics import median
from typing import Annotated, ClassVar, Final, Literal, NamedTuple, TypeVar

from annotated_types import Ge, Le, MaxLen

from scoring.core import services
from scoring.core.config import About
from scoring.core.contract import (
    EMPTY,
    Case,
    CaseProblem,
    ConfigError,
    Json,
    Result,
    error,
    scored,
    skipped,
)
from scoring.core.json_text import to_text, unmark_json
from scoring.core.llm.judge_prompt import build_messages
from scoring.core.llm.judge_reply import JudgeVerdict, UnusableReply, read_verdict
from scoring.core.llm.judge_scale import Choices, Range, Scale
from scoring.core.registry import (
    MAX_FORMULA_TERMS,
    Derivation,
    Example,
    ScorerType,
    StoredResult,
)
from scoring.core.scorers.answers import (
    LISTS_ANSWERS,
    NEEDS_ANSWER,
    AnswersConfig,
    describe_answers,
    find_answers,
)
from scoring.core.scorers.selection import (
    ExtractingConfig,
    problem_result,
    select_target,
)
from scoring.core.services import Answer, AvailableServices, CallFailure, Message, Question, Reply
from scoring.core.wording.numbers import score_text

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

SEVERAL_ANSWERS: Final = """\

`expected` is a list of answers, each of which is right by itself. Compare `output` with the one \
it comes closest to; that it lacks or contradicts another one does not matter."""


@dataclass(frozen=True, kw_only=True)
class ModelConfig(ExtractingConfig):
    """The settings of every judge: which model to ask, and through which connection."""

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
class FactualityConfig(ModelConfig, AnswersConfig):
    is_joint: ClassVar[bool] = True
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


def resolve_defaults(config: AnyModelConfig, available: AvailableServices) -> AnyModelConfig:
    """The config with its connection chosen, where there is any. Raises ConfigError."""
    return replace(config, connection=available.choose_connection(config.connection))


def factuality(cases: Sequence[Case], config: FactualityConfig) -> list[Result]:
    """How the facts of the output relate to those of the expected value, by choice."""
    return _judge(cases, config, _Plan(FACTUALITY, config.scale()))


def llm_judge(cases: Sequence[Case], config: LlmJudgeConfig) -> list[Result]:
    """The verdict of a model by a rubric: a choice, or a number on a range."""
    plan = _Plan(config.rubric.strip(), config.scale(), config.samples, config.reduce)
    return _judge(cases, config, plan)


class _Plan(NamedTuple):
    """What to ask, and how the replies become a score."""

    task: str
    scale: Scale
    samples: int = 1
    reduce: Reduce = "median"


class _Sample(NamedTuple):
    """A usable reply and its score."""

    verdict: JudgeVerdict
    score: float


def _judge(cases: Sequence[Case], config: ModelConfig, plan: _Plan) -> list[Result]:
    prompts = [_build_prompt(case, config, plan) for case in cases]
    questions = [
        question
        for prompt in prompts
        if not isinstance(prompt, Result)
        for question in _build_questions(prompt.messages, config, plan)
    ]
    answers = iter(services.current_services().ask(questions) if questions else [])
    return [
        prompt
        if isinstance(prompt, Result)
        else _merge_answers(list(islice(answers, plan.samples)), plan, prompt.facts)
        for prompt in prompts
    ]


class _Prompt(NamedTuple):
    """The messages to send; `facts` are the metadata that a result has whatever the reply."""

    messages: tuple[Message, ...]
    facts: Mapping[str, Json] = EMPTY


def _build_prompt(case: Case, config: ModelConfig, plan: _Plan) -> _Prompt | Result:
    if isinstance(config, FactualityConfig) and config.takes_answers():
        return _build_answers_prompt(case, config, plan)
    target = select_target(case, config)
    return target if isinstance(target, Result) else _compose(target, config, plan)


def _build_answers_prompt(case: Case, config: FactualityConfig, plan: _Plan) -> _Prompt | Result:
    """All right answers in one prompt; a single one as if it were expected."""
    found = find_answers(case, config)
    if isinstance(found, Result):
        return found
    values = [unmark_json(answer.value) for answer in found.usable]
    if not values:
        return found.fault
    target = case._replace(output=found.output, references=())
    if len(values) == 1:
        prompt = _compose(target._replace(expected=values[0]), config, plan)
    else:
        several = plan._replace(task=plan.task + SEVERAL_ANSWERS)
        prompt = _compose(target._replace(expected=values), config, several)
    if isinstance(prompt, Result):
        return prompt
    return prompt._replace(facts=describe_answers(found))


def _compose(target: Case, config: ModelConfig, plan: _Plan) -> _Prompt | Result:
    hidden = config.hidden_metadata
    visible = {key: value for key, value in target.metadata.items() if key not in hidden}
    try:
        return _Prompt(build_messages(plan.task, plan.scale, target._replace(metadata=visible)))
    except CaseProblem as problem:
        return problem_result(problem)


def _build_questions(
    prompt: tuple[Message, ...], config: ModelConfig, plan: _Plan
) -> list[Question]:
    """One question per sample; its number keeps equal ones apart in the cache."""
    question = Question(
        model=config.model.strip(),
        messages=prompt,
        connection=config.connection,
        schema=plan.scale.schema(),
        parameters=(("temperature", 0),),
    )
    return [replace(question, sample=number) for number in range(plan.samples)]


def _merge_answers(answers: Sequence[Answer], plan: _Plan, facts: Mapping[str, Json]) -> Result:
    """One result of a case's answers; an error comes before a refusal."""
    replies = [_read_sample(answer, plan.scale) for answer in answers]
    costs = {**_sum_costs(answers), **facts}
    samples = [reply for reply in replies if isinstance(reply, _Sample)]
    if len(samples) == len(replies):
        return _score_samples(samples, costs, plan)
    unusable = [
        (number, reply)
        for number, reply in enumerate(replies, start=1)
        if isinstance(reply, UnusableReply)
    ]
    number, first = min(unusable, key=lambda pair: pair[1].code == "refused")
    where = f"sample {number} of {plan.samples}: " if plan.samples > 1 else ""
    to_result = skipped if first.code == "refused" else error
    return to_result(first.code, _join_lines(where + first.text), costs)


def _read_sample(answer: Answer, scale: Scale) -> _Sample | UnusableReply:
    if isinstance(answer, CallFailure):
        return UnusableReply(answer.code, answer.text)
    verdict = read_verdict(answer, scale.schema())
    if isinstance(verdict, UnusableReply):
        return verdict
    return _Sample(verdict, scale.score(verdict.value))


def _score_samples(samples: Sequence[_Sample], costs: Mapping[str, Json], plan: _Plan) -> Result:
    score = _reduce_scores(samples, plan.reduce)
    typical = min(samples, key=lambda sample: (abs(sample.score - score), sample.score))
    value: Json = typical.verdict.value
    if isinstance(plan.scale, Range):
        value = plan.scale.number(score)
    reasons = _join_lines(typical.verdict.reasons)
    metadata = {
        plan.scale.key: value,
        "reasons": reasons[:MAX_REASONS],
        **costs,
        "samples": [sample.verdict.value for sample in samples],
    }
    return scored(score, f"{to_text(value)}: {reasons}"[:MAX_REASON], metadata)


def _reduce_scores(samples: Sequence[_Sample], reduce: Reduce) -> float:
    scores = [sample.score for sample in samples]
    if reduce == "mean":
        return fsum(scores) / len(scores)
    if reduce == "median":
        return float(median(scores))
    votes = Counter(sample.verdict.value for sample in samples)
    most = max(votes.values())
    return min(sample.score for sample in samples if votes[sample.verdict.value] == most)


def _sum_costs(answers: Sequence[Answer]) -> dict[str, Json]:
    """Attempts, tokens, cost and time of the answers; None where any of them is unknown."""
    replies = [answer for answer in answers if isinstance(answer, Reply)]
    facts: dict[str, Json] = {"attempts": sum(answer.attempts for answer in answers)}
    if not replies:
        return facts
    return facts | {
        "model": replies[0].model,
        "tokens_in": _total([reply.tokens_in for reply in replies]),
        "tokens_out": _total([reply.tokens_out for reply in replies]),
        "cost_usd": _total([0.0 if reply.is_cached else reply.cost_usd for reply in replies]),
        "latency_ms": _total([reply.latency_ms for reply in replies]),
        "cached": all(reply.is_cached for reply in replies),
        "refs": [reply.ref for reply in replies if reply.ref],
    }


def _total(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _join_lines(text: str) -> str:
    return " ".join(text.split())


def _check_scores(choices: Mapping[str, float]) -> None:
    for label, score in choices.items():
        if not 0 <= score <= 1:
            text = f"the score of {label!r} is {to_text(score)}; it must be from 0 to 1"
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


def explain_judge(stored: StoredResult) -> Derivation | None:
    """The scale, the samples and how they reduce, and the judge's reasons."""
    facts, scale = stored.facts, stored.config.scale()
    if scale.key not in facts:
        return None
    findings = [f"scale: {scale.words()}", f"{scale.key}: {to_text(facts[scale.key])}"]
    samples = facts.get("samples", ())
    wanted = getattr(stored.config, "samples", 1)
    if wanted > 1:
        findings.append(f"{wanted} samples: {', '.join(map(to_text, samples))}")
    if reasons := facts.get("reasons"):
        findings.append(f"{facts.get('model', 'the judge')}: {reasons}")
    if wanted == 1 and scale.knows(facts[scale.key]):
        return Derivation(findings, scale.arithmetic(facts[scale.key]))
    is_whole = len(samples) == wanted and all(map(scale.knows, samples))  # long metadata is cut
    if wanted > MAX_FORMULA_TERMS or not is_whole:
        return Derivation(findings, f"{stored.config.reduce} of {wanted} scores")
    scores = ", ".join(score_text(scale.score(value)) for value in samples)
    return Derivation(findings, f"{stored.config.reduce}({scores})")


_EVERY_JUDGE: Final = (
    "A reply that is empty, cut off, unreadable or off the scale is an error, a refusal "
    "is skipped; neither is ever a score. What stands in the case is shown to the judge "
    "as data, and no instruction in it is followed. Equal questions are asked once and "
    "paid once."
)
SCORER_TYPES: Final = (
    ScorerType(
        name="factuality",
        label="Factuality",
        summary="A model says how the facts of the output relate to those of the expected text.",
        use_when="The facts count, in whatever words, and a model may be asked.",
        config=FactualityConfig,
        score=factuality,
        default_threshold=0.5,
        family="llm",
        resolve_defaults=resolve_defaults,
        explain=explain_judge,
        semantics=(
            "A model says how the output's facts relate to the expected ones: A a subset "
            "(0.4), B a superset (0.6), C the same (1), D in contradiction (0), E "
            "different where it does not matter (1). `choices` sets other scores.",
            "The expected value and the references of a case are right answers; the judge sees "
            "all of them in one question and compares with the closest. With `use_references` "
            "off it compares with the expected value.",
            LISTS_ANSWERS,
            _EVERY_JUDGE,
            NEEDS_ANSWER,
        ),
        examples=(
            Example(
                {"model": "gpt-4o-mini"},
                Case("It is Paris.", "Paris", "What is the capital of France?"),
                1.0,
                "The judge answers C: the same facts.",
                replies=('{"reasons": "Both name Paris.", "choice": "C"}',),
            ),
            Example(
                {"model": "gpt-4o-mini"},
                Case("Red.", "Red and blue", "Which colours are on the flag?"),
                0.4,
                "A: some of the facts, none of them wrong.",
                replies=('{"reasons": "Blue is not named.", "choice": "A"}',),
            ),
            Example(
                {"model": "gpt-4o-mini"},
                Case(
                    "Four.",
                    "There are five oceans.",
                    "How many oceans are there?",
                    references=("Four, without the Southern Ocean.",),
                ),
                0.4,
                "A: compared with the reference, which is right too.",
                replies=('{"reasons": "It leaves out which ocean.", "choice": "A"}',),
            ),
            Example(
                {"model": "gpt-4o-mini", "choices": {"B": 1}},
                Case("Paris, on the Seine.", "Paris"),
                1.0,
                "B scores 0.6 unless you say otherwise.",
                replies=('{"reasons": "It adds the river.", "choice": "B"}',),
            ),
            Example(
                {"model": "gpt-4o-mini"},
                Case("Paris", "Paris"),
                None,
                "Text around the verdict: an error, never a score.",
                "reply_unparsable",
                replies=("I would say C.",),
            ),
        ),
    ),
    ScorerType(
        name="llm_judge",
        label="LLM judge",
        summary="A model judges the output by a rubric of yours: a choice, or a number on a range.",
        use_when="It takes judgement: tone, usefulness, a policy.",
        config=LlmJudgeConfig,
        score=llm_judge,
        default_threshold=0.5,
        family="llm",
        resolve_defaults=resolve_defaults,
        explain=explain_judge,
        semantics=(
            "A model judges the output by your rubric: it picks one of `choices`, each "
            "with a score, or a number on a `range`, mapped to 0 to 1.",
            "With several `samples` the question is asked again, and the scores reduce to "
            "their median, mean, or majority.",
            _EVERY_JUDGE,
        ),
        examples=(
            Example(
                {
                    "model": "gpt-4o-mini",
                    "rubric": "Is the answer polite? yes: it is. no: it is rude or curt.",
                    "choices": {"yes": 1, "no": 0},
                },
                Case("Thank you for asking; the refund takes five days."),
                1.0,
                "The score of the label yes.",
                replies=('{"reasons": "It thanks and explains.", "choice": "yes"}',),
            ),
            Example(
                {
                    "model": "gpt-4o-mini",
                    "rubric": "How clear is it? 1: not at all.",
                    "range": [1, 5],
                },
                Case("The refund takes five days."),
                0.75,
                "(4 - 1) / (5 - 1).",
                replies=('{"reasons": "Short and exact.", "number": 4}',),
            ),
            Example(
                {
                    "model": "gpt-4o-mini",
                    "rubric": "How clear is it? 1: not at all.",
                    "range": [1, 5],
                    "samples": 3,
                },
                Case("The refund takes five days, or so."),
                0.5,
                "The median of 4, 2 and 3, mapped to 0..1.",
                replies=(
                    '{"reasons": "Clear.", "number": 4}',
                    '{"reasons": "Vague at the end.", "number": 2}',
                    '{"reasons": "Nearly clear.", "number": 3}',
                ),
            ),
            Example(
                {"model": "gpt-4o-mini", "rubric": "How clear is it?", "range": [1, 5]},
                Case("The refund takes five days."),
                None,
                "A number outside the range: an error, never a score.",
                "out_of_range",
                replies=('{"reasons": "Very.", "number": 6}',),
            ),
        ),
    ),
)
