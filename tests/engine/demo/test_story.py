"""When the demo's runs are dated, and what each of its datasets has."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime

import pytest

from scoring.engine.demo import story as demo_story
from scoring.engine.demo.extraction import EXTRACTION
from scoring.engine.demo.questions import QUESTIONS
from scoring.engine.demo.story import WEEKS, DemoDataset
from scoring.engine.demo.support import SUPPORT

ANSWERS = """
import hashlib, os
import django
os.environ["DJANGO_SETTINGS_MODULE"] = "evalsite.settings"
django.setup()
from scoring.engine.demo.extraction import EXTRACTION
from scoring.engine.demo.questions import QUESTIONS
from scoring.engine.demo.support import SUPPORT
stories = SUPPORT, EXTRACTION, QUESTIONS
told = [(s, c, o) for s in stories for c in s.cases for w in range(12) for o in s.outputs(c, w)]
texts = [o for _, _, o in told] + [repr(s.judged(c, o)) for s, c, o in told if s.judged]
print(len(told), hashlib.sha256(chr(0).join(texts).encode()).hexdigest())
"""


def test_every_process_makes_the_same_outputs() -> None:
    told = {
        subprocess.run(
            [sys.executable, "-c", ANSWERS],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(told) == 1
    assert told.pop().startswith(f"{WEEKS * 156 + 2 * 50} ")


@pytest.mark.parametrize("story", [SUPPORT, EXTRACTION, QUESTIONS], ids=lambda story: story.series)
def test_keys_are_unique_and_cases_complete(story: DemoDataset) -> None:
    keys = [case.key for case in story.cases]
    assert len(set(keys)) == len(keys) >= 40
    assert all(case.input and case.expected and case.tags for case in story.cases)


@pytest.mark.parametrize(
    ("now", "last"),
    [
        (datetime(2026, 11, 20, 15, 30, tzinfo=UTC), datetime(2026, 11, 16, 9, tzinfo=UTC)),
        (datetime(2026, 11, 16, 9, 0, tzinfo=UTC), datetime(2026, 11, 16, 9, tzinfo=UTC)),
        (datetime(2026, 11, 16, 8, 59, tzinfo=UTC), datetime(2026, 11, 9, 9, tzinfo=UTC)),
    ],
)
def test_runs_are_dated_on_the_last_twelve_mondays(now: datetime, last: datetime) -> None:
    dates = demo_story.latest_mondays(now)
    assert (len(dates), dates[-1]) == (WEEKS, last)
    assert all(date.weekday() == 0 and date <= now for date in dates)
    assert (dates[-1] - dates[0]).days == 7 * (WEEKS - 1)
