"""Texts embedded per second: our way to local vectors beside the bare library.

    python benchmarks/embed.py [--texts 512] [--rounds 5]

Bare is `SentenceTransformer.encode` on batches of 32 texts that are sorted by length already. Ours
looks texts up, counts their tokens, sorts, computes and keeps: in this process, as commands do, and
through the worker's embedding process. The three take turns, on new texts every round; "share" is
the bare library's time over ours, and for processor time likewise, the median of the rounds and the
least. Then the same texts come again: each fifty times in a batch, and all once more from the
cache. Prints Markdown tables.
"""

from __future__ import annotations

import argparse
import os
import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

from rounds import (
    WORDS,
    Round,
    measure,
    others_cell,
    print_head,
    print_machine,
    print_row,
    rate_cell,
)

os.environ["HF_HUB_OFFLINE"] = "1"

from scoring.core.embeddings.cache import MemoryCache, embed_texts
from scoring.core.embeddings.child_process import ChildProcessModel, EmbeddingProcess
from scoring.core.embeddings.local import BATCH, DEFAULT_MODEL, LocalModel, get_model

SIZES = ((30, 90), (200, 400), (30, 1_500))  # characters
BARE, HERE, APART = "encode", "in this process", "in the embedding process"
TIMES = 50  # that each text comes in a batch

Rounds = dict[str, list[Round]]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--texts", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    model, process = get_model(DEFAULT_MODEL), EmbeddingProcess()
    apart = ChildProcessModel(model, DEFAULT_MODEL, process)
    for each in (model, apart):
        each.compute(texts_of(64, (30, 400)))  # loads the weights and warms up
    taken = []
    print_head("characters a text", "way", "texts/s", "share", "share of CPU time",
               "other programs")  # fmt: skip
    for size in SIZES:
        taken.append(measure_size(model, apart, arguments, size))
        print_speeds(arguments.texts, size, taken[-1])
    process.close()
    print_repeats(arguments.texts, taken)
    print_machine()


def measure_size(
    model: LocalModel,
    apart: ChildProcessModel,
    arguments: argparse.Namespace,
    size: tuple[int, int],
) -> Rounds:
    count, rounds = arguments.texts, defaultdict(list)
    for _ in range(arguments.rounds):
        cache, here = MemoryCache(), texts_of(count, size)
        bare, sent = sorted(texts_of(count, size), key=len), texts_of(count, size)
        ways: list[tuple[str, Callable[[], Any]]] = [
            (BARE, lambda bare=bare: encode(model, bare)),
            (HERE, lambda here=here, cache=cache: embed_texts(here, cache, model)),
            (APART, lambda sent=sent: embed_texts(sent, MemoryCache(), apart)),
        ]
        random.shuffle(ways)
        for name, work in ways:
            rounds[name].append(measure(work))
        many = texts_of(count // TIMES, size) * TIMES
        rounds["many"].append(measure(lambda many=many: embed_texts(many, MemoryCache(), model)))
        rounds["again"].append(
            measure(lambda here=here, cache=cache: embed_texts(here, cache, model))
        )
    return rounds


def print_speeds(count: int, size: tuple[int, int], rounds: Rounds) -> None:
    bare = rounds[BARE]
    for name in (BARE, HERE, APART):
        ours = rounds[name]
        shares = ratios([each.seconds for each in bare], [each.seconds for each in ours])
        of_cpu = ratios([each.cpu for each in bare], [each.cpu for each in ours])
        print_row(characters(size), name, rate_cell(count, ours), shares, of_cpu,
                  others_cell(ours))  # fmt: skip


def print_repeats(count: int, taken: Sequence[Rounds]) -> None:
    print()
    print_head("characters a text", f"each text {TIMES} times, texts/s", "again, texts/s")
    for size, rounds in zip(SIZES, taken, strict=True):
        many = rate_cell(count // TIMES * TIMES, rounds["many"])
        print_row(characters(size), many, rate_cell(count, rounds["again"]))


def ratios(bare: Sequence[float], ours: Sequence[float]) -> str:
    """Of the rounds that followed each other: the median and the least."""
    found = [one / other for one, other in zip(bare, ours, strict=True)]
    return f"{median(found):.2f} ({min(found):.2f})"


def characters(size: tuple[int, int]) -> str:
    return f"{size[0]} to {size[1]:,}"


def encode(model: LocalModel, texts: Sequence[str]) -> None:
    model._ready().encode(list(texts), batch_size=BATCH, show_progress_bar=False)


def texts_of(count: int, size: tuple[int, int]) -> list[str]:
    """New texts of lengths that are spread evenly, so that no two rounds share any."""
    lengths = [size[0] + (size[1] - size[0]) * n // max(1, count - 1) for n in range(count)]
    random.shuffle(lengths)
    return [" ".join(random.choices(WORDS, k=length // 4))[:length] for length in lengths]


if __name__ == "__main__":
    main()
