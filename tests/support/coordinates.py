"""Services whose vectors are written in the texts: "3,4" is the vector (3, 4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from scoring.core.services import Answer, Provider, Question, Vectors


class Coordinates:
    """A text that ends in … was cut. `requests` are the texts of every request, in order."""

    def __init__(self, fault: Exception | None = None) -> None:
        self.requests: list[list[str]] = []
        self.settings: list[tuple[Any, ...]] = []
        self._fault = fault

    def embed(
        self, texts: Sequence[str], *, provider: Provider, model: str, connection: str | None = None
    ) -> Vectors:
        self.requests.append(list(texts))
        self.settings.append((provider, model, connection))
        if self._fault:
            raise self._fault
        points = [[float(part) for part in text.rstrip("…").split(",")] for text in texts]
        rows = [_unit(point) for point in points]
        matrix = np.array(rows, dtype=np.float32)
        return Vectors(matrix, [text.endswith("…") for text in texts], f"{model}@1")

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        raise AssertionError("nobody asks a model for coordinates")


def _unit(point: list[float]) -> list[float]:
    length = sum(part * part for part in point) ** 0.5
    return [part / length if length else 0.0 for part in point]
