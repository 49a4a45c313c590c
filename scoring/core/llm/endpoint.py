"""An endpoint of chat or embedding models, and its prices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from scoring.core.llm.endpoint_text import CallTarget


class Price(NamedTuple):
    """US dollars per million tokens; None where it is not known."""

    usd_per_million_in: float | None = None
    usd_per_million_out: float | None = None

    def of(self, tokens_in: int | None, tokens_out: int | None) -> float | None:
        """What a call cost in US dollars; None unless every part of it is known."""
        price_in, price_out = self
        if tokens_in is None or tokens_out is None or price_in is None or price_out is None:
            return None
        return tokens_in * price_in / 1_000_000 + tokens_out * price_out / 1_000_000


@dataclass(frozen=True)
class Endpoint:
    """An OpenAI-compatible endpoint and how it may be called.

    `base_url` ends where the paths of the API begin, as in https://api.openai.com/v1. `api_key` may
    be empty for a local server. `prices` are by model; models without one are called all the same.
    `allowed_hosts` are those the guard lets through although they are not public.
    """

    name: str
    base_url: str
    api_key: str = field(default="", repr=False)
    timeout_seconds: int = 60
    concurrency: int = 8
    prices: Mapping[str, Price] = field(default_factory=dict, hash=False)
    allowed_hosts: frozenset[str] = frozenset()

    def target(self, model: str) -> CallTarget:
        """The endpoint and a model of it, for the texts of a call."""
        return CallTarget(self.name, model, self.api_key)

    def cost_usd(self, model: str, tokens_in: int | None, tokens_out: int | None) -> float | None:
        """What a call of this model cost; None where tokens or price are not known."""
        return self.prices.get(model, Price()).of(tokens_in, tokens_out)
