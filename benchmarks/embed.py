"""Texts embedded per second: our way to local vectors beside the bare library.

    python benchmarks/embed.py [--texts 512] [--rounds 3]

Bare is `SentenceTransformer.encode` on batches of 32 texts that are sorted by length already. Ours
looks texts up, counts their tokens, sorts, computes and keeps. Both take turns in one process, on
new texts every round. Then the same texts come again: once more in the same batch, each fifty
times over, and all as a re-run. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ["HF_HUB_OFFLINE"] = "1"

from scoring.core.embed.cached import InMemory, embedded
from scoring.core.embed.local import BATCH, DEFAULT_MODEL, Local, local

TEXT = """
    the refund was issued on Monday and reached your account within three working days after we had
    cancelled the order that arrived damaged please send us a photo of it
"""
SIZES = ((30, 90), (200, 400), (30, 1_500))  # characters


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--texts", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    model = local(DEFAULT_MODEL)
    model.compute(texts_of(64, (30, 400)))  # loads the weights and warms up
    print("| characters | bare, texts/s | ours | ours / bare | rounds | each 50 times | re-run |")
    print("|---|---:|---:|---:|---|---:|---:|")
    for size in SIZES:
        print(
            row_of(size, [one_round(model, arguments.texts, size) for _ in range(arguments.rounds)])
        )


def one_round(model: Local, count: int, size: tuple[int, int]) -> tuple[float, ...]:
    """Texts a second: bare, ours, each text fifty times, a re-run. The first two change places."""
    cache = InMemory()
    bare, ours = sorted(texts_of(count, size), key=len), texts_of(count, size)
    ways: list[tuple[int, Callable[[], Any]]] = [
        (0, lambda: encode(model, bare)),
        (1, lambda: embedded(ours, cache, model)),
    ]
    random.shuffle(ways)
    speeds = {place: speed(count, way) for place, way in ways}
    many = texts_of(count // 50, size) * 50
    repeated = speed(len(many), lambda: embedded(many, InMemory(), model))
    again = speed(count, lambda: embedded(ours, cache, model))
    return speeds[0], speeds[1], repeated, again


def encode(model: Local, texts: Sequence[str]) -> None:
    model._ready().encode(list(texts), batch_size=BATCH, show_progress_bar=False)


def speed(count: int, work: Callable[[], Any]) -> float:
    started = time.perf_counter()
    work()
    return count / (time.perf_counter() - started)


def texts_of(count: int, size: tuple[int, int]) -> list[str]:
    """New texts of lengths that are spread evenly, so that no two rounds share any."""
    lengths = [size[0] + (size[1] - size[0]) * n // max(1, count - 1) for n in range(count)]
    random.shuffle(lengths)
    return [" ".join(random.choices(TEXT.split(), k=length // 4))[:length] for length in lengths]


def row_of(size: tuple[int, int], rounds: Sequence[tuple[float, ...]]) -> str:
    bare, ours, repeated, again = (statistics.median(part) for part in zip(*rounds, strict=True))
    shares = sorted(each[1] / each[0] for each in rounds)
    spread = f"{shares[0]:.2f} - {shares[-1]:.2f}"
    share = statistics.median(shares)
    return (
        f"| {size[0]} to {size[1]:,} | {bare:,.0f} | {ours:,.0f} | {share:.2f} | {spread} |"
        f" {repeated:,.0f} | {again:,.0f} |"
    )


if __name__ == "__main__":
    main()
