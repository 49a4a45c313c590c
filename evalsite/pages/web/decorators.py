"""Decorators of views: the allowed HTTP methods. Each also requires a signed-in user."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpResponseBase
from django.views.decorators.http import require_http_methods, require_POST, require_safe

View = Callable[..., HttpResponseBase]


def get_page(view: View) -> View:
    """Allow GET and HEAD."""
    return _signed_in(require_safe(view))


def form_page(view: View) -> View:
    """Allow GET and HEAD to show a form, and POST to submit it."""
    return _signed_in(require_http_methods(["GET", "HEAD", "POST"])(view))


def post_action(view: View) -> View:
    """Allow POST alone."""
    return _signed_in(require_POST(view))


def _signed_in(view: Any) -> View:
    guarded: View = login_required(view)
    return guarded
