"""A FastAPI app with a login by password; its lists page by offset, by number and by a header."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import requests

from benchmarks.local import ROOT, free_port, run_in_background
from benchmarks.services.service import RunningService, install_python, work_folder
from benchmarks.services.shop_data import CUSTOMERS, ORDERS, PRODUCTS, RECEIPT

_PACKAGES = ("fastapi==0.165.0", "uvicorn", "python-multipart")
_SETTINGS = """
[credentials.OAuth2PasswordBearer]
username = "alice"
password = "env:SHOP_PASSWORD"
hosts = ["127.0.0.1:{port}"]
"""


def _moment(order: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(order["placed"]).astimezone(UTC)


def _truths() -> dict[str, Any]:
    return {
        "me": "alice",
        "products": len(PRODUCTS),
        "customers": len(CUSTOMERS),
        "bonn": sum(one["city"] == "Bonn" for one in CUSTOMERS),
        "orders": len(ORDERS),
        "revenue": sum(one["amount"] for one in ORDERS) / 100,
        "oldest": min(ORDERS, key=_moment)["id"],
        "march": sum(_moment(one).month == 3 for one in ORDERS),
        "size": PRODUCTS[6]["size"],
        "export": sum(one["amount"] for one in ORDERS if one["sku"] == "007"),
        "receipt": hashlib.sha256(RECEIPT).hexdigest(),
        "order": 1007,
        "location": "/orders/1008",
    }


@contextmanager
def run(folder: Path) -> Iterator[RunningService]:
    """Run the shop while the context is open."""
    python = install_python(folder, *_PACKAGES)
    port = free_port()
    with work_folder(folder) as work:
        start = [str(python), "-m", "uvicorn", "benchmarks.services.shop_app:app"]
        with run_in_background(
            [*start, "--port", str(port)], port=port, folder=work, env={"PYTHONPATH": str(ROOT)}
        ):
            url = f"http://127.0.0.1:{port}"
            login = {"username": "alice", "password": "wonderland"}
            token = requests.post(f"{url}/token", data=login, timeout=30).json()["access_token"]

            def order(number: int) -> dict[str, Any]:
                headers = {"Authorization": f"Bearer {token}"}
                found = requests.get(f"{url}/orders/{number}", headers=headers, timeout=30)
                return dict(found.json())

            yield RunningService(
                tools=f"{url}/openapi.json",
                truths=_truths(),
                settings=_SETTINGS.format(port=port),
                variables={"SHOP_PASSWORD": "wonderland"},
                written={
                    "order": lambda: order(1007).get("customer_id") == 7,
                    "location": lambda: order(1008).get("customer_id") == 8,
                },
            )
