"""The demo's documents."""

from __future__ import annotations

from scoring.engine.demo.extraction import EXTRACTION


def test_an_invoice_adds_up() -> None:
    assert EXTRACTION.cases[0].expected["total"] == round(
        sum(i["quantity"] * i["unit_price"] for i in EXTRACTION.cases[0].expected["items"]), 2
    )
