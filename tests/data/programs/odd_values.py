from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum


@dataclass
class Stop:
    code: str


class Colour(Enum):
    RED = 1


(
    Stop("JFK"),
    Colour.RED,
    {"b", "a"},
    date(2013, 1, 2),
    Decimal("1.50"),
    {1: "one"},
    {"k": 1}.keys(),
    b"raw",
    "lone \ud800",
    True,
    None,
    2**70,
)
