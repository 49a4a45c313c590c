"""One HTML file that needs nothing else: its style inside, no script, and a policy that says so."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, NamedTuple

from django.contrib.staticfiles import finders
from django.template import Template
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.text import slugify

SHEETS: Final = (
    "tokens", "base", "frame", "tables", "verdicts", "texts", "notices", "explanations", "compare",
    "report",
)  # fmt: skip
MAX_CASE_BYTES: Final = 2_800_000  # bytes of the cases in a file, so that it can be mailed
MAX_NAME_CHARS: Final = 100


class StyleSheet(NamedTuple):
    """The style element, as a template because it is the site's own text, and the policy for it."""

    element: Template
    policy: str


class SizeBudget:
    """How many bytes the cases of a file may still take."""

    def __init__(self, size: int = MAX_CASE_BYTES) -> None:
        self.left = size

    def filled(self, parts: Iterable[str]) -> Iterator[str]:
        """The parts up to the first there is no room for."""
        for part in parts:
            self.left -= len(part.encode("utf-8", "replace"))
            if self.left < 0:
                return
            yield part


def render_document(template: str, context: Mapping[str, Any]) -> str:
    """The whole file. What stands in the context is escaped as on every page."""
    own = {"sheet": style_sheet(), "made_at": timezone.now(), "is_report": True}
    text = render_to_string(template, {**context, **own})
    return text.encode("utf-8", "replace").decode()  # half a character cannot be written


@cache
def style_sheet() -> StyleSheet:
    css = "".join(f"{_compact(_path(name).read_text())}\n" for name in SHEETS)
    digest = b64encode(sha256(css.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return StyleSheet(Template(f"<style>{css}</style>"), policy)


def file_name(*words: object) -> str:
    """A name that every file system and every header can bear."""
    return f"{slugify(' '.join(map(str, words)))[:MAX_NAME_CHARS].strip('-') or 'report'}.html"


def _path(name: str) -> Path:
    found = finders.find(f"css/{name}.css")
    if not isinstance(found, str):
        raise FileNotFoundError(f"the stylesheet css/{name}.css is not among the static files")
    return Path(found)


def _compact(css: str) -> str:
    """Without comments and indents."""
    lines = re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL).splitlines()
    return "\n".join(line.strip() for line in lines if line.strip())
