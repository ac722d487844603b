"""Prices of the tokens of each model.

These are list prices in USD per million tokens, as published in March 2026, without discounts for
cached prompts or batches. Prices change, so set `model_price` if you use the costs for billing.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from atc.core.types import Usage


@dataclass(frozen=True, slots=True)
class Price:
    """USD per million tokens of prompts (`input`) and replies (`output`)."""

    input: float
    output: float

    def of(self, input_tokens: int, output_tokens: int) -> float:
        """Return the price of this many tokens in USD."""
        return (input_tokens * self.input + output_tokens * self.output) / 1_000_000


FREE = Price(0.0, 0.0)

LIST_PRICES: Mapping[str, Price] = {
    name: Price(*price)
    for name, price in tomllib.loads(Path(__file__).with_name("prices.toml").read_text()).items()
}
"""List prices, keyed by model name. A price also applies to dated versions of the model. For
example, the price of `gpt-4o` applies to `gpt-4o-2024-08-06`, but not to `gpt-4o-mini`.
"""

_VERSION = r"(?:[-@:](?:latest|[0-9][-0-9]*))?"


def price_of(model: str, own: Sequence[float] | None = None) -> Price | None:
    """Return the price that the user has set (`own`), else the model's list price, else None.

    If the name matches several list prices, the one with the longest name is used. A provider's
    prefix (`openai/gpt-4o`) is ignored. A file of weights (`*.gguf`) costs nothing, since it runs
    on this machine.
    """
    if own:
        return Price(*own)
    name = model.rpartition("/")[2]
    fitting = [known for known in LIST_PRICES if re.fullmatch(re.escape(known) + _VERSION, name)]
    if fitting:
        return LIST_PRICES[max(fitting, key=len)]
    return FREE if model.endswith(".gguf") else None


def cost_of(usage: Usage, model: str, own: Sequence[float] | None = None) -> float | None:
    """Return what a model's tokens cost in USD, or None if the price of the model is not known.

    `own` is the price that the user has set.
    """
    price = price_of(model, own) if usage.model_calls else FREE
    return price.of(usage.input_tokens, usage.output_tokens) if price is not None else None
