"""The loop of probing over fake tools: chains, rounds, budgets, and going on after a kill."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.labs.fake_tools import Fakes, need, refuse, run_probe

USERS = [
    {"user_id": f"u-{n}{n}7", "name": name} for n, name in enumerate(("Ada", "Bob", "Cyd"), start=1)
]
ORDERS = {
    user["user_id"]: [{"order_id": f"o{n}{n}x", "total": n * 10.5}]
    for n, user in enumerate(USERS, start=1)
}


def shop() -> Fakes:
    """Users are listed, their orders need a user's id, an order's parcel needs both ids of one record."""
    fakes = Fakes()

    def orders(given: Any) -> Any:
        user = given["user_id"]
        if user not in ORDERS:
            raise refuse(404, f"there is no user '{user}'.")
        return {"orders": ORDERS[user]}

    def parcel(given: Any) -> Any:
        user, order = need(given, "user_id"), need(given, "order_id")
        if order not in [o["order_id"] for o in ORDERS.get(user, [])]:
            raise refuse(404, f"user '{user}' has no order '{order}'.")
        return {"parcel": {"carrier": "fast", "days": 3}}

    # In an order that makes the chain wait: the last tool comes first.
    fakes.add("get_parcel", parcel, "/parcel", "user_id", "order_id")
    fakes.add("list_orders", orders, "/users/{user_id}/orders")
    fakes.add("list_users", lambda _: {"users": USERS})
    return fakes


def test_chains_are_followed_to_their_end(tmp_path: Path) -> None:
    probed = run_probe(shop(), tmp_path)
    assert {name for name, facts in probed.facts.items() if facts.fruitful} == set(probed.facts)
    first = {name: facts.fruitful[0].number for name, facts in probed.facts.items()}
    assert sorted(first, key=first.__getitem__) == ["list_users", "list_orders", "get_parcel"]
    pairs = [sample.plain_arguments for sample in probed.facts["get_parcel"].fruitful]
    assert all(
        pair["order_id"] in [o["order_id"] for o in ORDERS[pair["user_id"]]] for pair in pairs
    ), "of one record"
    assert {
        (link.tool, link.path, link.argument) for links in probed.links.values() for link in links
    } >= {
        ("list_users", "users[].user_id", "user_id"),
        ("list_orders", "orders[].order_id", "order_id"),
    }


def test_links_come_before_exploring_arguments(
    tmp_path: Path,
) -> None:
    def orders(given: Any) -> Any:
        if given.get("user_id", "u-117") not in ORDERS:
            raise refuse(404, "there is no such user.")
        return {"orders": [{"total": 5}]}

    fakes = Fakes()
    fakes.add(
        "list_orders", orders, "/orders", *(f"flag_{letter}" for letter in "abcdefgh"), "user_id"
    )
    fakes.add("list_users", lambda _: {"users": USERS})
    probed = run_probe(fakes, tmp_path, budget=6)
    assert [(link.tool, link.argument) for link in probed.links["list_orders"]] == [
        ("list_users", "user_id")
    ]
