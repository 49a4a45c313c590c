"""Invoice extraction: a letter goes in, JSON comes out."""

from __future__ import annotations

import json
from typing import Any

from scoring.engine.demo.story import (
    UNREPAIRED,
    DemoCase,
    DemoDataset,
    DemoScorer,
    is_wrong_answer,
    seeded_random,
)

_COMPANIES = (
    ("Northwind Paper", "GB", "GBP"),
    ("Atelier Lumière", "FR", "EUR"),
    ("Hafen Kontor", "DE", "EUR"),
    ("Cedar & Sons", "IE", "EUR"),
    ("Blue Fjord Shipping", "NO", "NOK"),
    ("Sakura Instruments", "JP", "JPY"),
)
_GOODS = (
    ("copy paper A4, box", 18.5),
    ("toner cartridge, black", 74.0),
    ("desk lamp", 39.9),
    ("oak shelf, 120 cm", 129.0),
    ("pallet transport", 210.0),
    ("precision balance", 880.0),
    ("packing tape, six rolls", 11.4),
    ("label printer", 164.25),
)
_CASES = 60


def _invoice(number: int) -> dict[str, Any]:
    draw = seeded_random("invoice", number)
    company, country, currency = draw.choice(_COMPANIES)
    goods = draw.sample(_GOODS, draw.randint(1, 4))
    items: list[dict[str, Any]] = [
        {"description": text, "quantity": draw.randint(1, 12), "unit_price": price}
        for text, price in goods
    ]
    total = round(sum(item["quantity"] * item["unit_price"] for item in items), 2)
    return {
        "number": f"{country}-{2400 + number}",
        "date": f"2026-{draw.randint(1, 12):02d}-{draw.randint(1, 28):02d}",
        "seller": {"name": company, "country": country},
        "currency": currency,
        "items": items,
        "total": total,
    }


def _letter(invoice: dict[str, Any]) -> str:
    lines = [
        f"{item['quantity']} x {item['description']} at {item['unit_price']:.2f}"
        for item in invoice["items"]
    ]
    return "\n".join([
        f"{invoice['seller']['name']} ({invoice['seller']['country']})",
        f"Invoice {invoice['number']} of {invoice['date']}",
        "",
        *lines,
        "",
        f"Total {invoice['total']:,.2f} {invoice['currency']}",
    ])  # fmt: skip


def _cases() -> list[DemoCase]:
    invoices = [_invoice(number) for number in range(1, _CASES + 1)]
    return [
        DemoCase(
            key=invoice["number"],
            input=_letter(invoice),
            expected=invoice,
            tags=(invoice["currency"], "long" if len(invoice["items"]) > 2 else "short"),
        )
        for invoice in invoices
    ]


def _answer(case: DemoCase, week: int) -> str:
    """The invoice as JSON. In the bad week long invoices lose items and thousands their comma."""
    read = json.loads(json.dumps(case.expected))
    if is_wrong_answer(case, week, usual=0.1, broken=0.85, hit_tag="long", bad_weeks=UNREPAIRED):
        if week in UNREPAIRED:
            read["items"] = read["items"][:2]
            read["total"] = f"{read['total']:,.2f}"
        elif seeded_random(case.key, "how").random() < 0.2:
            return f"Here is the invoice you asked for:\n\n{json.dumps(read, indent=2)}"
        else:
            day, month = read["date"][8:], read["date"][5:7]
            read["date"] = f"{day}/{month}/{read['date'][:4]}"
            read["items"][0]["quantity"] += 1
            read["seller"]["name"] = read["seller"]["name"].upper()
    return json.dumps(read, ensure_ascii=False, indent=2 if week < 4 else None)


_SCHEMA = {
    "type": "object",
    "required": ["number", "date", "seller", "currency", "items", "total"],
    "properties": {
        "number": {"type": "string"},
        "date": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},
        "total": {"type": "number", "minimum": 0},
        "items": {"type": "array", "minItems": 1},
    },
}

EXTRACTION = DemoDataset(
    name="Invoice extraction",
    suite="Extraction release",
    series="extractor",
    model="reader-medium",
    cases=_cases(),
    scorers=(
        DemoScorer("fields right", "json_similarity", {}, 0.9),
        DemoScorer("valid invoice", "json_schema", {"schema": _SCHEMA}, 1.0),
        DemoScorer(
            "total right", "numeric", {"target_output_key": "total", "tolerance": 0.005}, 1.0
        ),
    ),
    answer=_answer,
    bad_weeks=UNREPAIRED,
)
