"""Scorers that count the words two texts share: token_f1, bleu, rouge_l."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Final, Literal

from scoring.core.config import About
from scoring.core.contract import Case, CaseProblem, Json, Result, scored
from scoring.core.json_text import to_text
from scoring.core.registry import Derivation, Example, ScorerType, StoredResult
from scoring.core.scorers.answers import (
    BEST_ANSWER,
    LEAVES_OUT,
    LISTS_ANSWERS,
    NEEDS_ANSWER,
    Answers,
    AnswersConfig,
    describe_answers,
    find_answers,
    score_best,
)
from scoring.core.scorers.selection import (
    EXTRACTS,
    EXTRACTS_EXPECTED,
    TAKES_PARTS,
    expected_text,
    note_extracted,
    problem_result,
)
from scoring.core.wording.numbers import TIMES, score_text

NO_WORDS: Final = "neither text has a word"

_PUNCTUATION: Final = str.maketrans("", "", string.punctuation)
_ARTICLES: Final = re.compile(r"\b(?:a|an|the)\b")


@dataclass(frozen=True, kw_only=True)
class TokenF1Config(AnswersConfig):
    pass


def token_f1(cases: Sequence[Case], config: TokenF1Config) -> list[Result]:
    """2 · shared words / all words of both texts. Source: the evaluation script of SQuAD 2.0."""

    def compare(case: Case) -> Result:
        output, expected = (
            Counter(squad_words(text)) for text in (to_text(case.output), _expected(case))
        )
        words = output.total(), expected.total()
        shared = (output & expected).total()
        facts = {"shared": shared, "output_words": words[0], "expected_words": words[1]}
        if not all(words):
            return scored(float(words == (0, 0)), "", facts)
        return scored(2 * shared / sum(words), "", facts)

    return score_best(compare, cases, config)


def squad_words(text: str) -> list[str]:
    """The words of a text in lower case, without ASCII punctuation and the articles a, an, the."""
    return _ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split()


def explain_token_f1(stored: StoredResult) -> Derivation | None:
    facts = stored.facts
    if "shared" not in facts:
        return None
    counts = facts["output_words"], facts["expected_words"]
    if counts == (0, 0):
        return Derivation([NO_WORDS])
    finding = (
        f"{_words(facts['shared'])} shared, {counts[0]:,} in the output, {counts[1]:,} expected"
    )
    return Derivation([finding], f"2 {TIMES} {facts['shared']} / ({counts[0]} + {counts[1]})")


@dataclass(frozen=True, kw_only=True)
class RougeLConfig(AnswersConfig):
    pass


def rouge_l(cases: Sequence[Case], config: RougeLConfig) -> list[Result]:
    """The F-measure of the longest common subsequence of words, as the package rouge-score's.

    Its words and its F-measure; the length of the subsequence comes from rapidfuzz, which needs
    milliseconds where the table of that package needs minutes.
    """
    from rapidfuzz.distance import LCSseq
    from rouge_score.scoring import fmeasure
    from rouge_score.tokenize import tokenize

    def compare(case: Case) -> Result:
        output, expected = (
            tokenize(text, None) for text in (to_text(case.output), _expected(case))
        )
        common = LCSseq.similarity(output, expected)
        facts = {
            "common": common,
            "output_words": len(output),
            "expected_words": len(expected),
        }
        shares = [common / len(words) if words else 0.0 for words in (output, expected)]
        return scored(fmeasure(*shares), "", facts)

    return score_best(compare, cases, config)


def explain_rouge_l(stored: StoredResult) -> Derivation | None:
    facts = stored.facts
    if "common" not in facts:
        return None
    counts = facts["output_words"], facts["expected_words"]
    if counts == (0, 0):
        return Derivation([NO_WORDS])
    finding = (
        f"{_words(facts['common'])} in the same order in both,"
        f" {counts[0]:,} in the output, {counts[1]:,} expected"
    )
    return Derivation([finding], f"2 {TIMES} {facts['common']} / ({counts[0]} + {counts[1]})")


@dataclass(frozen=True, kw_only=True)
class BleuConfig(AnswersConfig):
    is_joint: ClassVar[bool] = True

    case_sensitive: Annotated[
        bool, About("Case-sensitive", "Off: all texts are lower-cased before they are compared.")
    ] = True
    tokenize: Annotated[
        Literal["13a", "intl", "char", "zh", "none"],
        About(
            "Words",
            "How sacrebleu splits a text: `13a` suits most languages, `intl` all signs of Unicode,"
            " `zh` Chinese; `char` takes characters, `none` splits at white space.",
        ),
    ] = "13a"


def bleu(cases: Sequence[Case], config: BleuConfig) -> list[Result]:
    """Sentence BLEU of the package sacrebleu against all answers together, divided by 100."""
    metric = _bleu_metric(config.case_sensitive, config.tokenize)
    results = [_score_bleu(case, config, metric) for case in cases]
    _forget_texts(metric)
    return results


def _score_bleu(case: Case, config: BleuConfig, metric: Any) -> Result:
    found = find_answers(case, config)
    if isinstance(found, Result):
        return found
    if not found.usable:
        return found.fault
    try:
        result = _compare_bleu(found, metric)
    except CaseProblem as problem:
        result = problem_result(problem)
    return note_extracted(result, found.compared, config)


def _compare_bleu(found: Answers, metric: Any) -> Result:
    texts = [expected_text(answer.value) for answer in found.usable]
    reply = metric.sentence_score(to_text(found.output), texts)
    facts: dict[str, Json] = {
        "precisions": [round(value / 100, 6) for value in reply.precisions],
        "brevity_penalty": round(reply.bp, 6),
        "output_words": reply.sys_len,
        "expected_words": reply.ref_len,
    }
    return scored(reply.score / 100, "", {**facts, **describe_answers(found)})


@lru_cache(maxsize=16)
def _bleu_metric(is_case_sensitive: bool, tokenize: str) -> Any:
    from sacrebleu.metrics.bleu import BLEU

    return BLEU(effective_order=True, lowercase=not is_case_sensitive, tokenize=tokenize)


def _forget_texts(metric: Any) -> None:
    """Empty the package's caches, which would keep 65,536 texts of any length."""
    from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp

    for kind in (type(metric.tokenizer), TokenizerRegexp):
        if clear := getattr(kind.__call__, "cache_clear", None):
            clear()


def explain_bleu(stored: StoredResult) -> Derivation | None:
    facts = stored.facts
    if "precisions" not in facts:
        return None
    words = f"{_words(facts['output_words'])} against {facts['expected_words']:,}"
    precisions = [value for value in facts["precisions"] if value]
    if not precisions:
        return Derivation([f"{words}, none of them shared"])
    shown = [score_text(value) for value in precisions]
    findings = [f"{words}; runs of 1 to {len(shown)} words that an answer has: {', '.join(shown)}"]
    penalty = score_text(facts["brevity_penalty"])
    root = f"({f' {TIMES} '.join(shown)})" + (f"^(1/{len(shown)})" if len(shown) > 1 else "")
    return Derivation(findings, f"{penalty} {TIMES} {root}")


def _expected(case: Case) -> str:
    return expected_text(case.expected)


def _words(count: int) -> str:
    return "1 word" if count == 1 else f"{count:,} words"


_ANSWERS: Final = (
    BEST_ANSWER,
    LISTS_ANSWERS,
    LEAVES_OUT,
    NEEDS_ANSWER,
    TAKES_PARTS,
    EXTRACTS,
    EXTRACTS_EXPECTED,
)

SCORER_TYPES: Final = (
    ScorerType(
        name="token_f1",
        label="Token F1",
        summary="How many words output and expected text share, in any order.",
        use_when="The words count and their order does not: short free answers.",
        config=TokenF1Config,
        score=token_f1,
        default_threshold=0.5,
        expected_as="text",
        explain=explain_token_f1,
        is_quick=lambda _: True,
        semantics=(
            "2 · shared words / (words of the output + words expected), the F1 of precision and "
            "recall, as the evaluation of SQuAD 2.0 counts it: in lower case, without ASCII "
            "punctuation, without the articles a, an and the. A word counts as often as both "
            "texts have it. Two texts without any word score 1.",
            *_ANSWERS,
        ),
        examples=(
            Example(
                {},
                Case("the capital of France is Paris", "Paris, France"),
                0.571428571,
                "Two of five and of two words: 2 · 2 / (5 + 2).",
            ),
            Example({}, Case("The Beatles!", "beatles"), 1.0, "Articles and signs do not count."),
            Example(
                {},
                Case("the blue whale", "a whale", references=("blue whale",)),
                1.0,
                "The reference is closer.",
            ),
        ),
    ),
    ScorerType(
        name="bleu",
        label="BLEU",
        summary="How many runs of up to four words the expected texts have, too.",
        use_when="The wording of sentences counts, best with several references: translations.",
        config=BleuConfig,
        score=bleu,
        default_threshold=0.3,
        expected_as="text",
        explain=explain_bleu,
        is_quick=lambda _: True,
        semantics=(
            "The sentence BLEU of sacrebleu with its defaults (exponential smoothing) and the "
            "effective order, divided by 100: the geometric mean of the shares of runs of 1, 2, 3 "
            "and 4 words that an expected text has, times a penalty where the output is shorter.",
            "All right answers of a case count together, as sacrebleu takes them: a run of words "
            "may be in any of them. With `use_references` off the expected value alone counts.",
            "The mean over a run's cases is not the corpus BLEU of papers, which sums the counts "
            "of all cases first.",
            LISTS_ANSWERS,
            LEAVES_OUT,
            NEEDS_ANSWER,
            TAKES_PARTS,
            EXTRACTS,
            EXTRACTS_EXPECTED,
        ),
        examples=(
            Example(
                {},
                Case("the cat sat on the mat", "the cat sat on a mat"),
                0.537284966,
                "Five of six words, three of five pairs, two of four, one of three.",
            ),
            Example(
                {"case_sensitive": False},
                Case("Hello world", "hello world"),
                1.0,
                "As short as the expected text.",
            ),
        ),
    ),
    ScorerType(
        name="rouge_l",
        label="ROUGE-L",
        summary="How long the longest run of words is that both texts have in the same order.",
        use_when="What is expected should be covered in its order: summaries.",
        config=RougeLConfig,
        score=rouge_l,
        default_threshold=0.5,
        expected_as="text",
        explain=explain_rouge_l,
        is_quick=lambda _: True,
        semantics=(
            "The F-measure of the longest common subsequence of words, as rouge-score gives it "
            "without stemming: words in the same order, with others between them. In lower case; "
            "anything but the letters a to z and digits separates words, so that it suits English "
            "and no text in other scripts. Texts without any word score 0.",
            *_ANSWERS,
        ),
        examples=(
            Example(
                {},
                Case("the cat was on the mat", "the cat sat on the mat"),
                0.833333333,
                "Five of six words in the same order.",
            ),
            Example({}, Case("mat the on", "on the mat"), 0.333333333, "The order counts."),
        ),
    ),
)
