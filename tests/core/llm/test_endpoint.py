"""Endpoints keep their key to themselves and know what a call costs."""

from __future__ import annotations

import pickle

import pytest

from scoring.core.llm.endpoint import Endpoint, Price


def test_an_endpoint_never_shows_its_key() -> None:
    endpoint = Endpoint("own", "https://api.example.org/v1", api_key="sk-secret")
    assert "sk-secret" not in f"{endpoint} {endpoint!r} {[endpoint]}"
    assert pickle.loads(pickle.dumps(endpoint)) == endpoint
    assert len({endpoint, Endpoint("own", "https://api.example.org/v1", api_key="other")}) == 2


@pytest.mark.parametrize(
    ("price", "tokens", "cost"),
    [
        (Price(2.5, 10.0), (1_000_000, 1_000), 2.51),
        (Price(0.0, 0.0), (5, 5), 0.0),
        (Price(2.5, None), (5, 5), None),
        (Price(None, 10.0), (5, 5), None),
        (Price(2.5, 10.0), (None, 5), None),
    ],
)
def test_a_call_costs_what_its_tokens_do(
    price: Price, tokens: tuple[int | None, int | None], cost: float | None
) -> None:
    endpoint = Endpoint("own", "https://api.example.org/v1", prices={"m": price})
    assert endpoint.cost_usd("m", *tokens) == (None if cost is None else pytest.approx(cost))
    assert endpoint.cost_usd("unpriced", *tokens) is None
