"""What several right answers and extraction cost: processor time a case, without a database.

    python benchmarks/answers.py [CASES]

Outputs of about 300 characters; one answer in ten is in its output.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from statistics import median
from typing import Any, Final

from rounds import WORDS, measure

from scoring.core.configured import configure_scorer
from scoring.core.contract import Case

ROUNDS: Final = 5
LENGTH: Final = 300  # characters
#: What is scored: label, type, config, number of references.
ROWS: Final[tuple[tuple[str, str, dict[str, Any], int], ...]] = (
    ("`includes`, expected value alone", "includes", {}, 0),
    ("`includes` over 1 reference", "includes", {}, 1),
    ("`includes` over 10 references", "includes", {}, 10),
    ("the same, any case", "includes", {"case_sensitive": False}, 10),
    ("`exact_match` over 10 references", "exact_match", {}, 10),
    ("`levenshtein` over 10 references", "levenshtein", {}, 10),
    ("`numeric`, the last number of the output", "numeric", {"extract": "last_number"}, 0),
    ("`includes` after a marker", "includes", {"extract": {"after": "photo"}}, 0),
    ("`includes` in what a pattern captures", "includes", {"extract": {"pattern": "of (.*)"}}, 0),
    ("`json_match` of JSON in prose", "json_match", {"extract": "json"}, 0),
    ("`token_f1`", "token_f1", {}, 0),
    ("`bleu`", "bleu", {}, 0),
    ("`rouge_l`", "rouge_l", {}, 0),
)


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    print("| what | µs a case, median | best |\n|---|---|---|")
    for label, type_name, config, references in ROWS:
        times = [seconds / count * 1e6 for seconds in _rounds(type_name, config, references, count)]
        print(f"| {label} | {median(times):.1f} | {min(times):.1f} |")


def _rounds(type_name: str, config: dict[str, Any], references: int, count: int) -> Iterator[float]:
    scorer = configure_scorer(type_name, config)
    cases = list(_cases(count, references, is_number=type_name == "numeric"))
    scorer.score(cases[:10])  # loads what it needs
    for _ in range(ROUNDS):
        yield measure(lambda: scorer.score(cases)).cpu


def _cases(count: int, references: int, *, is_number: bool) -> Iterator[Case]:
    generator = random.Random(1)
    for _ in range(count):
        words: list[str] = []
        while sum(map(len, words)) + len(words) < LENGTH:
            words.append(generator.choice(WORDS))
        output = " ".join(words) + ' of {"a": 1} 1,234.50'
        known = [" ".join(generator.choices(WORDS, k=4)) for _ in range(references)]
        if known and generator.random() < 0.1:
            known[generator.randrange(references)] = " ".join(words[3:7])
        expected = "1234.5" if is_number else None if references else '{"a": 1}'
        yield Case(output, expected, references=tuple(known))


if __name__ == "__main__":
    main()
