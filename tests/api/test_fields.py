"""Bodies are read strictly: the types of JSON, no unknown fields, no more than may be sent."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail

from evalsite.api.errors import Problem
from evalsite.api.fields import (
    NAME_LENGTH,
    BodySerializer,
    BooleanField,
    DateTimeField,
    IntegerField,
    JsonField,
    JsonObjectField,
    ManyField,
    NameField,
    NumberField,
    TextField,
)
from tests.api.conftest import Api
from tests.conftest import MakeDataset

Field = serializers.Field[Any, Any, Any, Any]
EAST = timezone(timedelta(hours=2))

VALID: list[tuple[Field, Any, Any]] = [
    (TextField(), "", ""),
    (TextField(), " a ", " a "),
    (NameField(), " a ", "a"),
    (NameField(), "x" * NAME_LENGTH, "x" * NAME_LENGTH),
    (IntegerField(), -3, -3),
    (NumberField(), 3, 3.0),
    (NumberField(), 0.5, 0.5),
    (BooleanField(), False, False),
    (JsonField(), None, None),
    (JsonField(), [1], [1]),
    (JsonObjectField(), {}, {}),
    (DateTimeField(), "2026-11-20", datetime(2026, 11, 20, tzinfo=UTC)),
    (DateTimeField(), "2026-11-20T09:30:00", datetime(2026, 11, 20, 9, 30, tzinfo=UTC)),
    (DateTimeField(), "2026-11-20T09:30:00+02:00", datetime(2026, 11, 20, 9, 30, tzinfo=EAST)),
    (ManyField(child=IntegerField(), most=2, beyond=""), [1, 2], [1, 2]),
]


@pytest.mark.parametrize(("field", "sent", "value"), VALID)
def test_a_value_of_the_right_type_is_taken(field: Field, sent: Any, value: Any) -> None:
    taken = field.run_validation(sent)
    assert (taken, type(taken)) == (value, type(value))


INVALID: list[tuple[Field, Any, str]] = [
    (TextField(), 3, "invalid"),
    (TextField(), None, "null"),
    (NameField(), "", "blank"),
    (NameField(), "  ", "blank"),
    (NameField(), "x" * (NAME_LENGTH + 1), "max_length"),
    (IntegerField(), "3", "invalid"),
    (IntegerField(), True, "invalid"),
    (IntegerField(), 3.0, "invalid"),
    (NumberField(), "0.5", "invalid"),
    (NumberField(), False, "invalid"),
    (NumberField(), 10**400, "not_finite"),
    (BooleanField(), 1, "invalid"),
    (BooleanField(), "true", "invalid"),
    (JsonObjectField(), [], "invalid"),
    (JsonObjectField(), None, "null"),
    (DateTimeField(), "2026-02-30", "invalid"),
    (DateTimeField(), "yesterday", "invalid"),
    (DateTimeField(), "0001-01-01T00:00:00+02:00", "invalid"),
]


@pytest.mark.parametrize(("field", "sent", "code"), INVALID)
def test_a_value_of_another_type_is_refused(field: Field, sent: Any, code: str) -> None:
    with pytest.raises(serializers.ValidationError) as refused:
        field.run_validation(sent)
    assert refused.value.get_codes() == [code]


class _Pair(BodySerializer):
    name = NameField()
    size = IntegerField(required=False)


@pytest.mark.parametrize(
    ("sent", "codes"),
    [
        ({"name": "a", "sizes": 3}, {"sizes": ["unknown_field"]}),
        ({"size": "3", "b": 1, "a": 1}, {
            "name": ["required"],
            "size": ["invalid"],
            "a": ["unknown_field"],
            "b": ["unknown_field"],
        }),
        ([], {"non_field_errors": ["invalid"]}),
    ],
)  # fmt: skip
def test_every_fault_of_a_body_is_told_unknown_fields_too(sent: Any, codes: Any) -> None:
    reader = _Pair(data=sent)
    assert not reader.is_valid()
    assert {
        field: [detail.code for detail in details if isinstance(detail, ErrorDetail)]
        for field, details in reader.errors.items()
    } == codes


def test_too_many_rows_are_not_looked_at() -> None:
    with pytest.raises(Problem) as refused:
        ManyField(child=IntegerField(), most=2, beyond="Send fewer.").run_validation(
            ["a", "b", "c"]
        )
    assert (refused.value.status_code, refused.value.code) == (413, "too_many_rows")
    assert refused.value.message == "These are 3; 2 are possible. Send fewer."


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("datasets/", {"name": "Answers\nPay at\u202e evil.example", "cases": [{"input": "a"}]}),
        ("scorers/", {"name": "Answers\nPay at\u202e evil.example", "type": "exact_match"}),
    ],
)
def test_the_api_refuses_it_with_its_field(alices: Api, path: str, body: dict[str, Any]) -> None:
    answer = alices.post(path, body)
    assert (answer.status_code, answer.json()["code"]) == (400, "not_one_line")
    assert answer.json()["errors"][0]["field"] == "name"


def test_series_of_runs_are_one_line_too(alices: Api, make_dataset: MakeDataset) -> None:
    version = make_dataset([{"input": "a"}])
    sent = {"dataset": str(version.dataset.uuid), "outputs": [], "suite": "x"}
    for name in ("series", "name"):
        answer = alices.post("runs/", sent | {name: "Answers\nPay at\u202e evil.example"})
        faults = [(fault["field"], fault["code"]) for fault in answer.json()["errors"]]
        assert (name, "not_one_line") in faults
