"""Cases as they are sent: every value is kept, and what is absent stays absent."""

from __future__ import annotations

from scoring.models import Case
from tests.api.conftest import Api
from tests.api.datasets.test_views import spool, with_cases

__all__ = ["spool"]


def test_every_value_survives_character_for_character(alices: Api) -> None:
    values = [
        "",
        " a\n\tb ",
        "\u200b\u202e",
        "🙂é",
        {"b": [1.5, None, True], "a": ""},
        10**30,
        None,
    ]
    alices.post("datasets/", with_cases(*({"input": v, "expected": v} for v in values)))
    cases = list(Case.objects.all())
    assert [case.input for case in cases] == values
    assert [case.expected for case in cases] == values


def test_empty_null_and_missing_stay_distinct(alices: Api) -> None:
    absent, null, empty = {"input": 1}, {"input": 2, "expected": None}, {"input": 3, "expected": ""}
    alices.post("datasets/", with_cases(absent, null, empty))
    assert list(Case.objects.values_list("expected_json", flat=True)) == [None, "null", '""']


def test_a_case_without_key_is_named_by_its_input(alices: Api) -> None:
    alices.post("datasets/", with_cases({"input": "a"}, {"input": "a"}, {"key": "k", "input": "a"}))
    first, second, third = Case.objects.values_list("key", flat=True)
    assert len(first) == 16
    assert (second, third) == (f"{first}#2", "k")
