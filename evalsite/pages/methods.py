"""How a page may be asked for; each also asks a stranger to the site to sign in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpResponseBase
from django.views.decorators.http import require_http_methods, require_POST, require_safe

View = Callable[..., HttpResponseBase]


def reading(view: View) -> View:
    """A page to look at."""
    return _signed_in(require_safe(view))


def filling(view: View) -> View:
    """A form: shown, and sent to the same address."""
    return _signed_in(require_http_methods(["GET", "HEAD", "POST"])(view))


def posting(view: View) -> View:
    """An act behind a button."""
    return _signed_in(require_POST(view))


def _signed_in(view: Any) -> View:
    guarded: View = login_required(view)
    return guarded
