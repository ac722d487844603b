"""What tokens cost, by model.

List prices in USD per million tokens, as published in March 2026, without discounts for cached prompts or batches. They
change: set `model_price` for figures that somebody will pay by.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Price:
    """USD per million tokens of prompts (`input`) and replies (`output`)."""

    input: float
    output: float

    def of(self, input_tokens: int, output_tokens: int) -> float:
        """What so many tokens cost, in USD."""
        return (input_tokens * self.input + output_tokens * self.output) / 1_000_000


FREE = Price(0.0, 0.0)

LIST_PRICES: Mapping[str, Price] = {
    "local": FREE,
    "none": FREE,
    "gpt-3.5-turbo": Price(0.50, 1.50),
    "gpt-4o": Price(2.50, 10.0),
    "gpt-4o-mini": Price(0.15, 0.60),
    "gpt-4.1": Price(2.0, 8.0),
    "gpt-4.1-mini": Price(0.40, 1.60),
    "gpt-4.1-nano": Price(0.10, 0.40),
    "gpt-5": Price(1.25, 10.0),
    "gpt-5-mini": Price(0.25, 2.0),
    "gpt-5-nano": Price(0.05, 0.40),
    "gpt-5-pro": Price(15.0, 120.0),
    "gpt-5.1": Price(1.25, 10.0),
    "gpt-5.4": Price(2.50, 15.0),
    "o3": Price(2.0, 8.0),
    "o3-mini": Price(1.10, 4.40),
    "o4-mini": Price(1.10, 4.40),
}
"""A name stands for itself and its versions: `gpt-4o` for `gpt-4o-2024-08-06`, not for `gpt-4o-mini`."""

_VERSION = r"(?:[-@:](?:latest|[0-9][-0-9]*))?"


def price_of(model: str, own: Sequence[float] | None = None) -> Price | None:
    """The user's `own` price of a model, else its list price, the longest name that stands for it deciding, else None.

    A file of weights (`*.gguf`) runs here and costs nothing. A provider's name in front (`openai/gpt-4o`) is passed by.
    """
    if own:
        return Price(*own)
    name = model.rpartition("/")[2]
    fitting = [known for known in LIST_PRICES if re.fullmatch(re.escape(known) + _VERSION, name)]
    if fitting:
        return LIST_PRICES[max(fitting, key=len)]
    return FREE if model.endswith(".gguf") else None
