"""What became of a case, and when something was, in a word beside its sign."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from evalsite.templatetags.marks import change_mark, time
from tests.support.html import on_one_line


@pytest.mark.parametrize(
    ("earlier", "now", "word"),
    [
        ("pass", "fail", "broke"),
        ("fail", "pass", "fixed"),
        ("error", "pass", "was error"),
        ("pass", "error", "was pass"),
        ("pass", "pass", "unchanged"),
        (None, "pass", "new"),
    ],
)
def test_a_change_of_verdict_has_one_word(earlier: str | None, now: str, word: str) -> None:
    words = ("broke", "fixed", "was error", "was pass", "unchanged", "new")
    html = on_one_line(change_mark(earlier, now))
    assert [shown for shown in words if f"{shown}</span>" in html] == [word]


def test_a_time_is_told_to_people_and_machines() -> None:
    html = time(datetime(2026, 3, 2, 6, 10, tzinfo=UTC))
    assert html.startswith(
        '<time datetime="2026-03-02T06:10:00+00:00" title="2 Mar 2026, 06:10 UTC"'
    )
    assert time(None).startswith('<time datetime="" title="')
