"""Requests and answers as they look, for the schema; the tests send and compare them."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiExample

ID = "019365b4-7c1e-7d2a-9f0b-3c5d8e6f1a20"
OTHER_ID = "019365b4-7c1e-7d2a-9f0b-3c5d8e6f1a21"

SCORE = {
    "scorer": {"type": "levenshtein", "config": {"case_sensitive": True}, "threshold": 0.9},
    "cases": [{"id": "a", "output": "Hello World!", "expected": "Hello World"}],
}
SCORED = {
    "results": [
        {
            "id": "a",
            "status": "scored",
            "score": 0.92,
            "verdict": "pass",
            "reason": "",
            "metadata": {"distance": 1, "max_length": 12, "truncated": False},
        }
    ]
}
DATASET = {
    "name": "Support answers",
    "cases": [
        {
            "key": "q1",
            "input": "How do I change my password?",
            "expected": "Go to Settings, then Security.",
            "references": [],
            "tags": ["account"],
            "metadata": {},
        }
    ],
}
DATASET_MADE = {
    "id": ID,
    "name": "Support answers",
    "version": 1,
    "case_count": 1,
    "state": "ready",
}
INVITATION = {"email": "jo@example.org", "role": "reviewer"}
TOKEN = {"name": "nightly", "role": "editor", "scopes": ["read", "upload"], "days": 90}
SCORER = {"name": "close enough", "type": "levenshtein", "config": {}, "threshold": 0.7}
SUITE = {"name": "release", "entries": [{"scorer": OTHER_ID, "threshold": 0.8}]}
THRESHOLD = {
    "suite": ID,
    "scorer": OTHER_ID,
    "threshold": 0.75,
    "reason": "Reviewers accepted more than the suite did.",
}
THRESHOLD_PROPOSAL = {
    "suite": ID,
    "thresholds": [{"scorer": OTHER_ID, "threshold": 0.75}],
    "reason": "Reviewers accepted more than the suite did.",
}
REVIEW = {"run": ID, "key": "q1", "verdict": "fail", "note": "It names the wrong page."}
REVIEWS = {
    "reviews": [
        {
            "key": "q1",
            "reviewer": "Dr. Jones",
            "verdict": "fail",
            "score": 0.25,
            "note": "It names the wrong page.",
            "date": "2026-11-20T09:30:00Z",
        }
    ]
}
ADJUDICATION = {**REVIEW, "note": "The page is named in the second sentence.", "seen": 0}
CORRECTION = {
    "run": ID,
    "key": "q1",
    "expected": "Go to Settings, then Account.",
    "note": "The page was renamed.",
}
PREFERENCE = {"run": ID, "baseline": OTHER_ID, "key": "q1", "verdict": "better"}
QUEUE = {
    "run": ID,
    "name": "Week 46",
    "order": "value",
    "cases": 50,
    "reviewers": ["rita@example.org"],
    "due_on": "2026-12-01",
    "filters": {"verdict": "fail"},
}
CHOICE = {"choice": "left", "note": "Shorter, with the same steps."}
COMMENT = {"run": ID, "key": "q1", "text": "Does a link count as an answer?"}
WAIVER = {
    "dataset": ID,
    "key": "q1",
    "scorer": OTHER_ID,
    "until": "2026-12-31",
    "reason": "The page was renamed; the answer follows in January.",
    "owner": "rita@example.org",
}
DECISIONS = {
    "baseline": ID,
    "candidate": OTHER_ID,
    "state": "accepted",
    "cases": [{"key": "q1"}],
    "reason": "The new answer is right.",
}
RELEASE = {"state": "approved", "reason": "Two known cases fail; both are waived.", "seen": None}
ALERT_RULE = {
    "dataset": ID,
    "kind": "mean_below",
    "series": "gpt-4o",
    "scorer": "close enough",
    "limit": 0.8,
    "renotify_hours": 24,
}
RUN = {
    "dataset": ID,
    "suite": OTHER_ID,
    "name": "2026-w47",
    "series": "gpt-4o",
    "dated": "2024-05-20",
    "labels": {"commit": "ab12"},
    "outputs": [
        {
            "key": "q1",
            "output": "Go to Settings, then Security.",
            "trial": 0,
            "latency_ms": 412,
            "tokens_in": 30,
            "tokens_out": 55,
            "cost_usd": 0.0004,
        }
    ],
    "final": True,
}
STARTED = {
    "id": ID,
    "state": "queued",
    "progress": {"done": 0, "total": 1},
    "url": f"https://evals.example.org/runs/{ID}/",
}
MORE_OUTPUTS = {"outputs": [{"key": "q2", "output": "Open the menu."}], "final": False}
ACCEPTED = {"accepted": 0, "unmatched": ["q2"]}


def request_example(body: dict[str, Any]) -> OpenApiExample:
    return OpenApiExample("sent", body, request_only=True)


def response_example(body: dict[str, Any], status: int = 200) -> OpenApiExample:
    return OpenApiExample("answered", body, response_only=True, status_codes=[str(status)])
