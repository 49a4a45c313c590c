"""Public ids are in order of creation."""

from __future__ import annotations

from scoring.models.base import AddressedRow, new_uuid


def test_ids_rise_and_carry_their_time() -> None:
    made = [new_uuid() for _ in range(100)]
    assert made == sorted(set(made))
    assert {each.version for each in made} == {7}


def test_an_id_is_given_once_and_not_edited() -> None:
    field = AddressedRow._meta.get_field("uuid")
    assert (field.unique, field.editable, field.default) == (True, False, new_uuid)
