"""The data of the shop, which its app serves and from which the suite computes the truths."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

_CHANCE = random.Random(49)

PRODUCTS: list[dict[str, Any]] = [
    {
        "sku": f"{number:03}",
        "name": f"Product {number}",
        "price": number * 1.25,
        "size": f"2.{number}0",
    }
    for number in range(1, 46)
]
CUSTOMERS: list[dict[str, Any]] = [
    {"id": number, "name": f"Customer {number}", "city": ("Bonn", "Graz", "Bern")[number % 3]}
    for number in range(1, 131)
]
_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
ORDERS: list[dict[str, Any]] = [
    {
        "id": number,
        "customer_id": _CHANCE.randrange(1, 131),
        "sku": f"{_CHANCE.randrange(1, 46):03}",
        "amount": _CHANCE.randrange(100, 20_000),
        "placed": (_BEGIN + timedelta(minutes=_CHANCE.randrange(200_000)))
        .astimezone(timezone(timedelta(hours=_CHANCE.choice((-5, 1, 9)))))
        .isoformat(),
    }
    for number in range(1, 121)
]
RECEIPT = b"%PDF-1.4\n" + random.Random(7).randbytes(40_000)


def csv_export() -> str:
    """Return all orders as CSV with a header."""
    lines = [f"{one['id']},{one['sku']},{one['amount']}" for one in ORDERS]
    return "\n".join(["id,sku,amount_cents", *lines]) + "\n"
