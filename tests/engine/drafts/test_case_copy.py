"""Cases copied into another version are those that were stored."""

from __future__ import annotations

from scoring.core.files import MISSING
from scoring.engine import drafts, imports
from scoring.engine.drafts import TypedCase
from scoring.models import Draft, User
from tests.engine.drafts.conftest import CASES
from tests.engine.drafts.test_publishing import publish


def test_the_content_is_recognised_in_a_file(draft: Draft, alice: User) -> None:
    """The hash equals that of an import of the same cases: no version comes twice."""
    numbers = {"z": 10**30, "a": 12345678901234567890}
    drafts.add_case(draft, TypedCase(numbers, MISSING, metadata=numbers), alice, "q4")
    drafts.add_case(draft, TypedCase({"z": 1, "a": 12345678901234567890}), alice, "q6")
    drafts.add_case(draft, TypedCase([1.0, {"b": None, "a": "ü"}], "“x”"), alice, "q5")
    version = publish(draft, alice)
    again = [
        *CASES,
        {"key": "q4", "input": numbers, "metadata": numbers},
        {"key": "q5", "input": [1.0, {"b": None, "a": "ü"}], "expected": "“x”"},
    ]
    again.insert(-1, {"key": "q6", "input": {"a": 12345678901234567890, "z": 1}})
    loaded = imports.store_cases(draft.dataset.team, draft.dataset.name, again)
    assert (loaded.is_new, loaded.version) == (False, version)
