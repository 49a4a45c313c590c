"""Somebody at the form of a scorer, without scripts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.test import Client

from evalsite.pages.scorers.tree_forms import ROOT
from scoring.models import Scorer
from tests.support.browser_forms import as_sent

JUDGE = {"model": "m", "rubric": "Good?\nSay so.", "choices": {"yes": 1.0, "no": 0.0}}
NESTED = [
    {"name": "same", "type": "exact_match", "config": {}, "weight": 1.0},
    {
        "name": "form",
        "type": "weighted",
        "weight": 1.0,
        "config": {
            "scorers": [
                {"name": "a", "type": "regex", "config": {"pattern": "^x "}, "weight": 2.5},
                {"name": "", "type": "includes", "config": {"values": ["a\nb"]}, "weight": 1.0},
                {"name": "j", "type": "llm_judge", "config": JUDGE, "weight": 1.0},
            ]
        },
    },
]


class Editing:
    """Somebody at the form of a combination, without scripts."""

    def __init__(self, browser: Client, url: str) -> None:
        self._browser, self.url = browser, url
        self._take(browser.get(url))

    def _take(self, answer: Any) -> None:
        self.answer, self.page = answer, answer.text
        if answer.status_code != 302:
            self.fields = as_sent(answer.text)

    def press(self, order: str, **typed: str) -> None:
        """A button of the tree; `typed` replaces fields before."""
        self.fill(**typed)
        self._take(self._browser.post(self.url, self.fields | {"tree": order}))

    def fill(self, **typed: str) -> None:
        self.fields |= {name.replace("__", "-"): [value] for name, value in typed.items()}

    def add(self, type_name: str, to: str = ROOT) -> str:
        """The new node's token."""
        before = set(self.tokens)
        self.fields[f"add-{to}"] = [type_name]
        self.press(f"add:{to}")
        (token,) = set(self.tokens) - before
        return token

    @property
    def tokens(self) -> list[str]:
        return [line.partition(":")[0] for line in self.fields.get("node", [])]

    def save(self, **typed: str) -> None:
        self.fill(**typed)
        self._take(self._browser.post(self.url, self.fields))


NewScorer = Callable[[str], Editing]
EditedScorer = Callable[[Scorer], Editing]
