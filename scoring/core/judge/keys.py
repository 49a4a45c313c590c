"""The key under which a reply is kept: everything that decides it."""

from __future__ import annotations

import hashlib
import json

from scoring.core.services import Question


def reply_key(base_url: str, question: Question) -> str:
    """SHA-256 over URL, model, messages, schema, parameters, sample number and scope.

    The connection's name and its key decide nothing and are left out.
    """
    decisive = [
        base_url.rstrip("/"),
        question.model,
        [list(message) for message in question.messages],
        question.schema,
        sorted(question.parameters),
        question.sample,
        question.scope,
    ]
    return hashlib.sha256(json.dumps(decisive).encode()).hexdigest()
