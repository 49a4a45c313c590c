"""The site's style and scripts as few files, each named by its content and kept for a year.

The sources in `static/` are put together when the first page names them: there is nothing to
collect or to build, under `start`, `runserver` and in tests alike.
"""

from __future__ import annotations

import gzip
import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Final

from django.conf import settings
from django.contrib.staticfiles import finders
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import get_script_prefix
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe

#: In the order of the cascade.
STYLES: Final = (
    *("tokens", "base", "frame", "controls", "forms", "tables", "bulk_actions", "verdicts"),
    *(
        "texts",
        "notices",
        "explanations",
        "scorers",
        "drift",
        "thresholds",
        "sparks",
        "compare",
        "sign_off",
        "reviews",
        "run",
    ),
)
#: In the order in which they run.
SCRIPTS: Final = (
    *("app", "responses", "focus", "late_responses", "notices", "unsent_text", "bulk_actions"),
    *("settings", "upload", "compare", "sign_off", "drift", "thresholds", "run", "review"),
    "passkeys",
)
SOURCES: Final = {
    "site.css": tuple(f"css/{name}.css" for name in STYLES),
    "site.js": tuple(f"js/{name}.js" for name in SCRIPTS),
    "htmx.js": ("django_htmx/htmx-2.min.js",),
    "icon.svg": ("icon.svg",),
}
TYPES: Final = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
FOREVER: Final = "public, max-age=31536000, immutable"
_COMMENT: Final = re.compile(r"/\*.*?\*/\n*", re.DOTALL)
_NAME: Final = re.compile(r"(\w+)\.([0-9a-f]{12})(\.\w+)")


@dataclass(frozen=True)
class Asset:
    """One file of the site as browsers get it."""

    name: str
    content: bytes

    @cached_property
    def hashed_name(self) -> str:
        """`site.css` → `site.0a1b2c3d4e5f.css`."""
        stem, _, kind = self.name.partition(".")
        return f"{stem}.{sha256(self.content).hexdigest()[:12]}.{kind}"

    @cached_property
    def packed(self) -> bytes:
        return gzip.compress(self.content, mtime=0)

    @property
    def content_type(self) -> str:
        return f"{TYPES[self.name.partition('.')[2]]}; charset=utf-8"


def asset_url(name: str) -> str:
    """Its address, which needs no table of addresses: pages for errors name it, too."""
    return f"{get_script_prefix()}assets/{asset(name).hashed_name}"


def asset(name: str) -> Asset:
    """The file made of its sources, which in debugging may change. Raises KeyError for a name that
    SOURCES does not have.
    """
    paths = _paths(name)
    changed = max(path.stat().st_mtime_ns for path in paths) if settings.DEBUG else 0
    return _build(name, changed)


@require_safe
def asset_file(request: HttpRequest, name: str) -> HttpResponse:
    """The file by its hashed name. A page of the version before gets today's content, once."""
    parts = _NAME.fullmatch(name)
    if parts is None or parts[1] + parts[3] not in SOURCES:
        raise Http404
    file = asset(parts[1] + parts[3])
    is_packed = "gzip" in request.headers.get("Accept-Encoding", "")
    response = HttpResponse(file.packed if is_packed else file.content, file.content_type)
    response["Cache-Control"] = FOREVER if file.hashed_name == name else "no-store"
    if is_packed:
        response["Content-Encoding"] = "gzip"
    patch_vary_headers(response, ["Accept-Encoding"])
    return response


@lru_cache(maxsize=len(SOURCES))
def _build(name: str, _changed: int) -> Asset:
    sources = [path.read_text(encoding="utf-8") for path in _paths(name)]
    if name == "site.css":
        sources = [_COMMENT.sub("", source) for source in sources]
    if name == "site.js":
        sources = [f"{{\n{source}}}\n" for source in sources]  # each keeps its names to itself
    return Asset(name, "".join(sources).encode())


@lru_cache(maxsize=len(SOURCES))
def _paths(name: str) -> tuple[Path, ...]:
    paths = [finders.find(source) for source in SOURCES[name]]
    if None in paths:
        raise FileNotFoundError(f"a source of {name} is not among the static files")
    return tuple(Path(str(path)) for path in paths)
