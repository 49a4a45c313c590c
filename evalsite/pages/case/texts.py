"""The texts of one case as a page shows them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, NamedTuple

from django.utils.safestring import SafeString

from evalsite.markdown_reader import TooMuchError
from evalsite.safe_html import markdown
from scoring.core.contract import Json
from scoring.core.shown import LONG, Shown, readable, shown, written
from scoring.models import Case

_TOO_MUCH: Final = "Too much markup to be set as Markdown; the text as it is:"
_NOTHING: Final = "As Markdown this text is empty; the text as it is:"


class Rendered(NamedTuple):
    """A text read as Markdown. `hidden` characters of its end are left out."""

    html: SafeString
    hidden: int = 0
    is_empty: bool = False
    before: int = 0


def rendered(value: Json, *, with_spaces: bool = False) -> Rendered | Shown:
    """A text as Markdown, and as it is where that is too much or nothing; other values as JSON."""
    if not isinstance(value, str):
        return shown(written(value))
    cut = value[:LONG]
    try:
        html = markdown(cut, with_spaces=with_spaces)
    except TooMuchError:
        return replace(shown(value), note=_TOO_MUCH)
    if value and not html.strip():
        return replace(shown(value), note=_NOTHING)
    return Rendered(html, len(value) - len(cut), not value)


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
        texts = {"input": written(self.input_value)}
        if case.has_expected:
            texts["expected"] = written(self.expected_value)
        texts |= {f"reference-{n}": text for n, text in enumerate(case.references, start=1)}
        return texts | ({"metadata": written(case.metadata)} if case.metadata else {})

    @cached_property
    def input_value(self) -> Json:
        return readable(self.case.input_json)

    @cached_property
    def expected_value(self) -> Json:
        """None both where it is absent and where it is null."""
        return readable(self.case.expected_json) if self.case.expected_json is not None else None

    @property
    def input(self) -> Shown | Rendered:
        return self._shown(self.input_value)

    @property
    def expected(self) -> Shown | None:
        return shown(self.whole["expected"]) if "expected" in self.whole else None

    @property
    def references(self) -> list[tuple[str, Shown | Rendered]]:
        """Each with the name by which it is opened whole."""
        names = [name for name in self.whole if name.startswith("reference-")]
        return [(name, self._shown(self.whole[name])) for name in names]

    def _shown(self, value: Json) -> Shown | Rendered:
        if self.is_markdown:
            return rendered(value, with_spaces=self.marks_space)
        return shown(written(value))

    @cached_property
    def metadata(self) -> list[tuple[str, Shown]]:
        """Each value with its name."""
        return [(name, shown(written(value))) for name, value in self.case.metadata.items()]

    @property
    def is_metadata_cut(self) -> bool:
        return any(value.hidden for _, value in self.metadata)
