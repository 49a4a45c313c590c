"""Under what a vector is kept: everything that decides it, and nothing else."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable

NORMALISATION = "l2"  # raised with any change of how a vector is brought to length 1


def hashed_with(provider: str, model: str, revision: str) -> Callable[[str], str]:
    """The key of a text for this model: 64 hexadecimal digits.

    `revision` tells two models of one name apart: a hash of the weights, or the endpoint's URL.
    """
    parts = json.dumps([provider, model, revision, NORMALISATION])
    start = hashlib.sha256(parts.encode())

    def key(text: str) -> str:
        whole = start.copy()
        whole.update(b"\0")
        whole.update(text.encode())
        return whole.hexdigest()

    return key
