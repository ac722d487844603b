"""What tokens cost: a table of prices by model, and one's own from a file.

List prices in USD per million tokens, as published in March 2026, without discounts for cached prompts or batches. They
change: give `--prices FILE` for figures that somebody will pay by.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from protocols.errors import AtcError


class InvalidPrices(AtcError):
    """A file of prices that cannot be used: names the file, the model and what is wrong."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class Price:
    """USD per million tokens of prompts (`input`) and replies (`output`)."""

    input: float
    output: float

    def of(self, input_tokens: int, output_tokens: int) -> float:
        """What so many tokens cost, in USD."""
        return (input_tokens * self.input + output_tokens * self.output) / 1_000_000


Prices = Mapping[str, Price]
"""By model. A name stands for itself and its versions (`gpt-4o` for `gpt-4o-2024-08-06`, not for `gpt-4o-mini`); with a
`*` at its end it stands for every name that begins so."""

FREE = Price(0.0, 0.0)

LIST_PRICES: Prices = {
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

_VERSION = re.compile(r"[-@:](?:latest|[0-9][-0-9]*)")


def price_of(model: str, prices: Prices = LIST_PRICES) -> Price | None:
    """The price of a model, the longest name that stands for it deciding; None where none does.

    A file of weights (`*.gguf`) runs here and costs nothing. A provider's name in front (`openai/gpt-4o`) is passed by.
    """
    for name in (model, model.rpartition("/")[2]):
        fitting = [known for known in prices if _stands_for(known, name)]
        if fitting:
            return prices[max(fitting, key=len)]
    return FREE if model.endswith(".gguf") else None


def load_prices(path: Path) -> Prices:
    """The list prices with those of a file before them: `"gpt-5-mini" = [0.25, 2.0]`, in TOML or JSON.

    Raises:
        InvalidPrices: the file cannot be read, or an entry is not a pair of prices.
    """
    try:
        text = path.read_text(encoding="utf-8")
        found: Any = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except OSError as error:
        raise InvalidPrices(f"cannot read the prices in {str(path)!r}: {error.strerror}; give the file's path.") from (
            error
        )
    except (ValueError, RecursionError) as error:
        raise InvalidPrices(f"{str(path)!r} holds no prices: {error}; write TOML, or JSON in a .json file.") from error
    if not isinstance(found, dict):
        raise InvalidPrices(f"{str(path)!r} must be a table of models, got a {type(found).__name__}.")
    return {**LIST_PRICES, **{name: _price(path, name, entry) for name, entry in found.items()}}


def _price(path: Path, name: str, entry: Any) -> Price:
    if isinstance(entry, dict) and set(entry) == {"input", "output"}:
        entry = [entry["input"], entry["output"]]
    if not (isinstance(entry, list) and len(entry) == 2 and all(map(_is_price, entry))):
        raise InvalidPrices(
            f"{str(path)!r}: {name!r} must be two prices of at least 0 in USD a million tokens, [input, output], "
            f"got {entry!r}; in TOML a name with a dot in it stands in quotes."
        )
    return Price(float(entry[0]), float(entry[1]))


def _is_price(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf


def _stands_for(known: str, model: str) -> bool:
    if known.endswith("*"):
        return model.startswith(known[:-1])
    return model == known or (model.startswith(known) and _VERSION.fullmatch(model[len(known) :]) is not None)
