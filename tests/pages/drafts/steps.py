"""What tests of editing cases share: a few cases, and the form of one as a browser sends it."""

from __future__ import annotations

from typing import Any

from django.test import Client
from django.urls import reverse

from scoring.models import Dataset

CASES: list[dict[str, Any]] = [
    {"key": "q1", "input": "One?", "expected": "1", "tags": ["easy"]},
    {"key": "a/b?c=d&e", "input": {"b": 1, "a": [2.0]}, "metadata": {"lang": "de"}},
    {"key": "q3", "input": "Three?\r\nOr\rmore\n", "references": ["3", "three\r\n"]},
    {"key": "q4", "input": "Four?", "references": ["", "4"], "tags": [" a ", "b\nc", "d\u2028e"]},
]


def at(dataset: Dataset, name: str = "draft") -> str:
    return reverse(name, args=[dataset.uuid])


def sent(page: Any, **changes: str) -> dict[str, str]:
    """The form as a browser sends it: every line end is CR LF."""
    form = page.context["form"]
    values = {field.name: field.value() for field in form}
    texts = {name: "" if value is None else str(value) for name, value in values.items()}
    for name, text in texts.items():
        lines = text.replace("\r\n", "\n").replace("\r", "\n")
        texts[name] = lines.replace("\n", "\r\n")
    return texts | changes


def open_case(browser: Client, dataset: Dataset, key: str) -> Any:
    return browser.get(at(dataset, "draft_case"), {"key": key} if key else {})


def save(browser: Client, dataset: Dataset, of: str, **changes: str) -> Any:
    page = open_case(browser, dataset, of)
    address = page.request["PATH_INFO"] + "?" + page.request["QUERY_STRING"]
    return browser.post(address, sent(page, **changes))
