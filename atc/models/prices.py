"""Prices of tokens, by model.

List prices in USD per million tokens, as published in March 2026, without discounts for cached
prompts or batches. Prices change: set `model_price` if the figures are used for billing.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


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
"""List prices by model name. A price also applies to dated versions of the model: that of `gpt-4o`
to `gpt-4o-2024-08-06`, not to `gpt-4o-mini`.
"""

_VERSION = r"(?:[-@:](?:latest|[0-9][-0-9]*))?"


def price_of(model: str, own: Sequence[float] | None = None) -> Price | None:
    """Return the user's `own` price of a model, else its list price, else None.

    If several names match, the longest one is used. A file of weights (`*.gguf`) runs locally and
    costs nothing. A provider's prefix (`openai/gpt-4o`) is ignored.
    """
    if own:
        return Price(*own)
    name = model.rpartition("/")[2]
    fitting = [known for known in LIST_PRICES if re.fullmatch(re.escape(known) + _VERSION, name)]
    if fitting:
        return LIST_PRICES[max(fitting, key=len)]
    return FREE if model.endswith(".gguf") else None
