"""What a tab did before its test failed, for a report that is read where nobody saw the tab."""

from __future__ import annotations

from collections import deque
from time import monotonic

from playwright.sync_api import Error, Page, Request

KEPT = 40
NOW = """() => [
  document.readyState,
  `focus on ${document.activeElement?.outerHTML.slice(0, 200)}`,
  `not settled: ${document.querySelectorAll(".htmx-added, .htmx-settling, .htmx-request").length}`,
].join("; ")"""


class Witness:
    """The last requests of a tab with their seconds since it opened, and what it shows now."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._opened = monotonic()
        self._seen: deque[str] = deque(maxlen=KEPT)
        page.on("request", lambda request: self._note("asked", request))
        page.on("requestfinished", lambda request: self._note("answered", request))
        page.on("requestfailed", lambda request: self._note(f"failed ({request.failure})", request))
        page.on("framenavigated", lambda frame: self._add(f"now at {frame.url}"))

    def _note(self, what: str, request: Request) -> None:
        if request.resource_type not in {"stylesheet", "script", "image"}:
            self._add(f"{what} {request.method} {request.url} as {request.resource_type}")

    def _add(self, what: str) -> None:
        self._seen.append(f"{monotonic() - self._opened:7.2f} s  {what}")

    def report(self) -> str:
        try:
            now = str(self._page.evaluate(NOW))
        except Error as gone:
            now = f"no longer to be asked: {gone.message}"
        return "\n".join([*self._seen, f"{monotonic() - self._opened:7.2f} s  {now}"])
