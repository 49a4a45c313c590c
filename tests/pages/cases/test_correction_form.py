"""The form that proposes an expected value: text or JSON, as in a draft."""

from __future__ import annotations

import pytest

from evalsite.pages.cases.correction_form import MAX_FOLDED, CorrectionForm, folded_form
from scoring.models import Case


def case(expected_json: str | None) -> Case:
    return Case(key="q", input_json='"?"', expected_json=expected_json)


@pytest.mark.parametrize(
    ("before", "kind", "typed", "value"),
    [
        ('"a\\nb"', "text", "a\r\nb", "a\nb"),
        ('"a\\r\\nb"', "text", "a\r\nb", "a\r\nb"),  # only the browser changed it
        ('{"a": 1}', "json", '{"a": 2}', {"a": 2}),
        ("1", "text", "2", "2"),
        (None, "json", "null", None),
        (None, "text", " ", " "),
    ],
)
def test_what_is_typed_is_a_value(before: str, kind: str, typed: str, value: object) -> None:
    form = CorrectionForm({"expected": typed, "kind": kind}, case=case(before))
    assert form.is_valid()
    assert form.cleaned_data["value"] == value


def test_what_is_no_json_is_said_at_its_field() -> None:
    form = CorrectionForm({"expected": "{", "kind": "json"}, case=case("1"))
    assert "cannot be read as JSON" in form.errors["expected"][0]


def test_it_begins_with_the_present_value_and_a_long_one_has_a_page_of_its_own() -> None:
    assert CorrectionForm(case=case('{"a": 1}')).initial["kind"] == "json"
    assert CorrectionForm(case=case(None)).initial == {"expected": "", "kind": "text"}
    assert folded_form(case('"short"'))
    assert folded_form(case(f'"{"x" * MAX_FOLDED}"')) is None
