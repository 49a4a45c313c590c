"""Addresses of this site's pages: where forms lead, and those that a browser sends along."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django_htmx.middleware import HtmxDetails

from evalsite.pages.web.responses import SignedInRequest
from scoring.models import OutputSet, Suite


def new_run_address(outputs: OutputSet, suite: Suite | None) -> str:
    """The form of a new run of these outputs by this suite."""
    query = {"outputs": str(outputs.uuid)} | ({"suite": str(suite.uuid)} if suite else {})
    return reverse("new_run", args=[outputs.version.dataset.uuid], query=query)


def next_address(request: SignedInRequest, default: str) -> str:
    """The page to go back to, which a form's field `next` names; the default for any other site's.

    An address without a leading slash is none: `redirect` would take it for the name of a view.
    """
    address = request.POST.get("next", "")
    is_own = address.startswith("/") and url_has_allowed_host_and_scheme(
        address, allowed_hosts=None
    )
    return address if is_own else default


def shown_path(request: SignedInRequest) -> str:
    """The path of the page that an htmx request comes from; empty for none of this site's."""
    try:
        return (HtmxDetails(request).current_url_abs_path or "").partition("?")[0]
    except ValueError:  # a header that no browser sends, such as "http://["
        return ""


def shown_query(request: SignedInRequest) -> str:
    """The query of the page that an htmx request comes from."""
    try:
        return urlsplit(HtmxDetails(request).current_url or "").query
    except ValueError:
        return ""
