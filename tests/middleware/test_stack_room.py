"""However deep the server calls a view, its own calls find memory that is there."""

from __future__ import annotations

import resource
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from evalsite.middleware.stack_room import StackRoom

CALLS = 1_000
DEPTHS = range(0, 200, 5)


def leaf(number: int) -> int:
    return number


def call_at_depth(depth: int, function: Callable[[], int]) -> int:
    return call_at_depth(depth - 1, function) if depth else function()


def count_page_faults() -> int:
    """Those of a thousand calls: each maps memory anew where the frames' piece ends."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for number in range(CALLS):
        leaf(number)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def view(_request: HttpRequest) -> HttpResponse:
    faults = max(call_at_depth(depth, count_page_faults) for depth in DEPTHS)
    return HttpResponse(str(faults))


def test_no_depth_of_the_server_or_of_the_view_maps_memory_at_each_call() -> None:
    get_response = StackRoom(view)
    for depth in DEPTHS:
        faults = call_at_depth(depth, lambda: int(get_response(HttpRequest()).content))  # type: ignore[attr-defined]
        assert faults < CALLS / 2, depth


def test_the_answer_is_that_of_the_view() -> None:
    request = HttpRequest()
    request.path = "/runs/"
    assert StackRoom(lambda asked: HttpResponse(asked.path))(request).content == b"/runs/"  # type: ignore[attr-defined]
