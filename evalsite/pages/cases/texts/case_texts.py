"""The texts of one case as a page shows them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, NamedTuple

from django.utils.safestring import SafeString

from evalsite.rendering.markdown_reader import MarkdownTooLargeError
from evalsite.rendering.safe_html import render_markdown
from scoring.core.contract import Json
from scoring.core.textdiff.text_layout import (
    SHOWN_CHARS,
    TextLayout,
    display_text,
    layout_text,
    parse_for_display,
)
from scoring.models import Case

_TOO_MUCH: Final = "Too much markup to be set as Markdown; the text as it is:"
_NOTHING: Final = "As Markdown this text is empty; the text as it is:"


class MarkdownText(NamedTuple):
    """A text read as Markdown. `hidden` characters of its end are left out."""

    html: SafeString
    hidden: int = 0
    is_empty: bool = False
    before: int = 0


def render_value(value: Json, *, with_spaces: bool = False) -> MarkdownText | TextLayout:
    """A text as Markdown, or verbatim if that is too much or empty; other values as JSON."""
    if not isinstance(value, str):
        return layout_text(display_text(value))
    cut = value[:SHOWN_CHARS]
    try:
        html = render_markdown(cut, with_spaces=with_spaces)
    except MarkdownTooLargeError:
        return replace(layout_text(value), note=_TOO_MUCH)
    if value and not html.strip():
        return replace(layout_text(value), note=_NOTHING)
    return MarkdownText(html, len(value) - len(cut), not value)


@dataclass(frozen=True)
class CaseTexts:
    """What a case itself holds. `rest` ends the address at which a text is opened whole."""

    case: Case
    rest: str = ""
    is_markdown: bool = False
    marks_space: bool = False

    @cached_property
    def whole(self) -> dict[str, str]:
        """The texts there are, by name; what is absent is not here, an empty text is."""
        case = self.case
        texts = {"input": display_text(self.input_value)}
        if case.has_expected:
            texts["expected"] = display_text(self.expected_value)
        texts |= {f"reference-{n}": text for n, text in enumerate(case.references, start=1)}
        return texts | ({"metadata": display_text(case.metadata)} if case.metadata else {})

    @cached_property
    def input_value(self) -> Json:
        return parse_for_display(self.case.input_json)

    @cached_property
    def expected_value(self) -> Json:
        """None both where it is absent and where it is null."""
        text = self.case.expected_json
        return None if text is None else parse_for_display(text)

    @property
    def input(self) -> TextLayout | MarkdownText:
        return self._render(self.input_value)

    @property
    def expected(self) -> TextLayout | None:
        return layout_text(self.whole["expected"]) if "expected" in self.whole else None

    @property
    def references(self) -> list[tuple[str, TextLayout | MarkdownText]]:
        """Each with the name by which it is opened whole."""
        names = [name for name in self.whole if name.startswith("reference-")]
        return [(name, self._render(self.whole[name])) for name in names]

    def _render(self, value: Json) -> TextLayout | MarkdownText:
        if self.is_markdown:
            return render_value(value, with_spaces=self.marks_space)
        return layout_text(display_text(value))

    @cached_property
    def metadata(self) -> list[tuple[str, TextLayout]]:
        """Each value with its name."""
        return [
            (name, layout_text(display_text(value))) for name, value in self.case.metadata.items()
        ]

    @property
    def is_metadata_cut(self) -> bool:
        return any(value.hidden for _, value in self.metadata)
