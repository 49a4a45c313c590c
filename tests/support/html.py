"""HTML as a browser would read it, by the standard library's parser."""

from __future__ import annotations

from html.parser import HTMLParser


class Reader(HTMLParser):
    """What a browser would make of it: every element, every attribute, and the text."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)


def on_one_line(html: str) -> str:
    """The HTML as if its templates were not wrapped, in texts or inside of tags."""
    return " ".join(html.split()).replace(" >", ">")
