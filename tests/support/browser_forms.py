"""What a browser without scripts would send for the form it was shown."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser
from typing import Any

from django.test import Client


class _Fields(HTMLParser):
    """Collects the successful controls of one form, in their order."""

    def __init__(self, form_id: str) -> None:
        super().__init__()
        self.sent: dict[str, list[str]] = {}
        self._form_id, self._is_inside = form_id, False
        self._area: tuple[str, list[str]] | None = None
        self._select: str | None = None
        self._options: list[tuple[str, bool]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given: dict[str, Any] = dict(attrs)
        if tag == "form":
            self._is_inside = given.get("id") == self._form_id
        mine = given.get("form") == self._form_id if "form" in given else self._is_inside
        name = given.get("name")
        if tag == "option" and self._select:
            self._options.append((given.get("value") or "", "selected" in given))
        if not mine or not name or "disabled" in given:
            return
        if tag == "input":
            self._input(name, given)
        elif tag == "textarea":
            self._area = name, []
        elif tag == "select":
            self._select, self._options = name, []

    def _input(self, name: str, given: dict[str, Any]) -> None:
        kind = given.get("type", "text")
        is_choice = kind in {"checkbox", "radio"}
        if kind not in {"submit", "button", "file"} and (not is_choice or "checked" in given):
            self._add(name, given.get("value", "on" if is_choice else ""))

    def handle_data(self, data: str) -> None:
        if self._area:
            self._area[1].append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._is_inside = False
        if tag == "textarea" and self._area:
            name, pieces = self._area
            self._add(name, _line_ends("".join(pieces)))
            self._area = None
        if tag == "select" and self._select:
            chosen = [value for value, is_chosen in self._options if is_chosen]
            chosen = chosen or [value for value, _ in self._options[:1]]
            for value in chosen:
                self._add(self._select, value)
            self._select = None

    def _add(self, name: str, value: str | None) -> None:
        self.sent.setdefault(name, []).append(value or "")


def _line_ends(text: str) -> str:
    """As a text area sends them: the first one of its content is dropped, each is CR LF."""
    return text.replace("\r\n", "\n").removeprefix("\n").replace("\n", "\r\n")


def as_sent(html: str, form_id: str = "scorer-form") -> dict[str, list[str]]:
    """By name, all values of the form with this id, line ends as browsers send them."""
    fields = _Fields(form_id)
    fields.feed(html)
    return fields.sent


def pressed_undo(browser: Client, page: Any) -> Any:
    """The page after the Undo of the first message of this one."""
    form = re.search(r'<form id="undo-1" method="post" action="([^"]*)"', page.text)
    assert form
    return browser.post(unescape(form[1]), as_sent(page.text, "undo-1"), follow=True)
