"""The loop of probing over fake tools: chains, rounds, budgets, and going on after a kill."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from probing.caller import Caller
from probing.probe import Probed, probe
from probing.samples import Log, ProbeSettings
from tests.labs.fake_tools import Fakes, need, refuse

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


def run(fakes: Fakes, folder: Path, **settings: Any) -> Probed:
    chosen = ProbeSettings(requests_per_second=None, **settings)
    with Log(folder) as log:
        caller = Caller(fakes.toolbox, log, chosen, sleep=lambda _: None)
        return probe(fakes.toolbox, log, settings=chosen, caller=caller)


def test_chains_are_followed_to_their_end(tmp_path: Path) -> None:
    probed = run(shop(), tmp_path)
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
    probed = run(fakes, tmp_path, budget=6)
    assert [(link.tool, link.argument) for link in probed.links["list_orders"]] == [
        ("list_users", "user_id")
    ]


def test_each_wrong_argument_teaches_what_it_must_be(tmp_path: Path) -> None:
    fakes = Fakes()

    def departures(given: Any) -> Any:
        origin = need(given, "origin", "one of EWR, JFK, LGA")
        if origin not in ("EWR", "JFK", "LGA"):
            raise refuse(422, f"argument 'origin' must be one of EWR, JFK, LGA, got '{origin}'.")
        hour = given.get("hour", 0)
        if not str(hour).isdigit() or not 0 <= int(hour) <= 23:
            raise refuse(422, f"argument 'hour' must be an integer from 0 to 23, got '{hour}'.")
        return {"departures": [{"to": "BOS", "hour": int(hour)}]}

    fakes.add("list_departures", departures, "/departures", "origin", "hour")
    facts = run(fakes, tmp_path).facts["list_departures"]
    origin, hour = facts.arguments["origin"], facts.arguments["hour"]
    assert (origin.required, hour.required) == (True, False)
    assert ("EWR", "JFK", "LGA") in [hint.values for hint in origin.hints]
    assert (0, 23) in [(hint.minimum, hint.maximum) for hint in hour.hints]


def test_guessed_fields_are_dropped_to_test_need(
    tmp_path: Path,
) -> None:
    fakes = Fakes()
    fakes.add("list_films", lambda _: [{"id": 1, "title": "Emma", "by": "Ann"}], "/films")
    fakes.add(
        "add_film",
        lambda given: {"id": 9, "title": need(given, "title")},
        "/films",
        method="POST",
        strict=False,
    )
    known = run(fakes, tmp_path, allow_writes=True).facts["add_film"].arguments
    assert {name: one.required for name, one in known.items()} == {"title": True}
