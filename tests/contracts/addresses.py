"""Every address of the site's own, and how it is spelt out for one of everything."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver, reverse

from scoring.models import Team

#: Addresses of a dataset whose names have another noun in them.
DATASET_WORDS = {"new_run", "generate_run", "decide_dataset_corrections"}
#: Addresses of a run whose names have another noun in them.
RUN_WORDS = {
    "accept_case_output",
    "propose_correction",
    "ticked_cases",
    "sign_off_cases",
    "review_case",
    "new_pairwise_queue",
    "new_review_queue",
}


def addresses() -> Iterator[tuple[str, str, list[str]]]:
    """(kind, name, parameters) of every address but Django's admin and allauth's own."""

    def walk(resolver: URLResolver, prefix: str) -> Iterator[tuple[str, str, list[str]]]:
        for entry in resolver.url_patterns:
            route = prefix + str(entry.pattern)
            if isinstance(entry, URLPattern):
                name = entry.name or "unknown"
                is_page = not route.startswith("api/") or name == "api_docs"
                kind = "page" if is_page else "api"
                yield kind, name, list(entry.pattern.converters)
            elif not route.startswith(("admin/", "accounts/")):
                yield from walk(entry, route)

    yield from walk(get_resolver(), "")


def parameters(name: str, wanted: list[str], house: dict[str, Any], team: Team) -> dict[str, Any]:
    noun = next((noun for noun in house if noun in name), "dataset")
    if name == "versions" or name.startswith("dataset") or name in DATASET_WORDS:
        noun = "dataset"
    if name.endswith(("_view", "_comment")) or name in RUN_WORDS:
        noun = "run"
    if name == "restore_run":
        noun = "deleted run"
    known = {
        "slug": team.slug,
        "uid": house[noun].uuid,
        "position": 1,
        "place": 0,
        "view": house["kept view"].uuid,
        "comment": house["comment"].uuid,
        "scorer": house["scorer"].uuid,
        "number": 1,
        "member": house["the member"].pk,
        "group_role": house["the group"].pk,
        "account": house["the account"].pk,
        "invitation_key": house["invitation"].key,
        "join_key": house["join link"].key,
        "token": house.get("token", "no-such-token"),
        "type_name": "exact_match",
        "name": "site.000000000000.css",  # of a version before: a current one may be kept
    }
    return {parameter: known[parameter] for parameter in wanted}


def listed() -> list[tuple[str, str, list[str]]]:
    return [entry for entry in addresses() if entry[1] != "unknown"]


def url_of(kind: str, name: str, wanted: list[str], house: dict[str, Any], team: Team) -> str:
    space = "" if kind == "page" or name == "api_schema" else "api:"
    return reverse(space + name, kwargs=parameters(name, wanted, house, team))


def parameters_of(kind: str, name: str) -> list[str]:
    """The parameters of the address with this name."""
    return next(wanted for found, known, wanted in addresses() if (found, known) == (kind, name))
