"""A report as a reader of HTML sees it: its elements, their attributes and their words."""

from __future__ import annotations

from collections import Counter
from html.parser import HTMLParser

FLOWING = frozenset({"a", "b", "del", "ins", "span"})
GROUPS = frozenset({"dl", "figure", "svg", "table", "tbody", "thead", "tr", "ul"})
BLOCKS = frozenset(
    {"article", "body", "details", "div", "footer", "head", "header", "html", "main", "section"}
)
HOLDERS = frozenset({"caption", "dd", "dt", "figcaption", "h1", "h2", "h3", "h4", "h5", "li", "p"})
CELLS = frozenset({"meta", "style", "summary", "td", "th", "title"})
DRAWN = frozenset({"circle", "g", "line", "path", "rect", "text"})
ELEMENTS = FLOWING | GROUPS | BLOCKS | HOLDERS | CELLS | DRAWN
ADDRESSES = frozenset({"href", "src", "action", "srcset", "data", "poster", "xlink:href"})


class HandedOut(HTMLParser):
    """What stands in the file. Raises AssertionError where elements do not close as they open."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: Counter[str] = Counter()
        self.attributes: Counter[str] = Counter()
        self.addresses: list[str] = []
        self.words: list[str] = []
        self.ids: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements[tag] += 1
        self.attributes.update(name for name, _ in attrs)
        self.addresses += [value or "" for name, value in attrs if name in ADDRESSES]
        self.ids += [value or "" for name, value in attrs if name == "id"]
        if tag != "meta":
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag
        if tag not in FLOWING:
            self.words.append(" ")

    def handle_data(self, data: str) -> None:
        if self._open[-1:] != ["style"]:
            self.words.append(data)

    @property
    def text(self) -> str:
        """The words in one line."""
        return " ".join("".join(self.words).split())


def sound(text: str) -> HandedOut:
    """The file, once nothing in it runs, loads or styles itself, and every id is there once."""
    found = HandedOut(text)
    assert set(found.elements) <= ELEMENTS
    assert found.elements["style"] == 1
    assert not [name for name in found.attributes if name.startswith(("on", "hx-", "style"))]
    outside = [each for each in found.addresses if not each.startswith("#")]
    assert all(each.startswith("http://testserver/") for each in outside)
    assert len(found.ids) == len(set(found.ids))
    return found
