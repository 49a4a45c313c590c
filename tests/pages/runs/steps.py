"""What tests of the run pages share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.template.loader import render_to_string
from django.test import Client
from django.urls import reverse

from scoring.models import OutputSet, Run, User

BrowserOf = Callable[[User], Client]
MakeSet = Callable[..., OutputSet]


def url(run: Run, query: str = "") -> str:
    return reverse("run", args=[run.uuid]) + query


def keys(answer: Any) -> list[str]:
    """The keys of the cases that the page lists, in its order."""
    return [row.key for row in answer.context["cases"].page.rows]


def with_code(text: str) -> str:
    """The text as a page shows it: what stands between backticks set as code."""
    return render_to_string("web/_text_with_code.html", {"text": text})
