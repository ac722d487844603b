"""What probing asks of a tool that answers, and of one that will not: over fake tools."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from probing.facts import ToolFacts
from probing.gaps import gaps, records
from tests.fake_tools import Fakes, need, refuse
from tests.test_probing_probe import run

RECORDS = [{"item_id": f"it-{n:03}", "name": f"item {n}", "colour": "red" if n != 29 else None} for n in range(30)]


def facts_of(fakes: Fakes, folder: Path, tool: str, **settings: Any) -> ToolFacts:
    return run(fakes, folder, **settings).facts[tool]


def test_arguments_that_nobody_described_are_found(tmp_path: Path) -> None:
    fakes = Fakes()

    def search(given: Any) -> Any:
        for name in given:
            if name not in ("colour", "size"):
                raise refuse(422, f"unknown argument '{name}'; this operation's arguments: colour, size.")
        return {"items": RECORDS[:3]}

    fakes.add("list_items", search, "/items", strict=False)
    assert {"colour", "size"} <= facts_of(fakes, tmp_path, "list_items").arguments.keys()


def test_limits_that_nobody_told_are_asked_for(tmp_path: Path) -> None:
    fakes = Fakes()

    def search(given: Any) -> Any:
        limit = given.get("limit", 10)
        if isinstance(limit, str) and not limit.isdigit():
            raise refuse(400, f"limit must be an integer, got '{limit}'")
        if int(limit) > 50:
            raise refuse(400, "limit must be at most 50")
        return {"items": RECORDS[: int(limit)]}

    fakes.add("list_items", search, "/items", "limit")
    limit = facts_of(fakes, tmp_path, "list_items").arguments["limit"]
    assert 50 in [hint.maximum for hint in limit.hints if hint.kind == "range"]


def test_an_argument_that_is_left_out_in_vain_is_needed(tmp_path: Path) -> None:
    fakes = Fakes()

    def convert(given: Any) -> Any:
        if not {"amount", "currency"} <= given.keys():
            raise refuse(400, "Bad Request")  # and not a word about why
        return {"converted": 12.5}

    fakes.add("convert", convert, "/convert", "amount", "currency")
    arguments = facts_of(fakes, tmp_path, "convert").arguments
    assert {name: argument.required for name, argument in arguments.items()} == {"amount": True, "currency": True}


def test_one_of_several_is_given_and_none_of_them_is_needed(tmp_path: Path) -> None:
    fakes = Fakes()

    def find(given: Any) -> Any:
        if not given.keys() & {"name", "email"}:
            raise refuse(400, "At least one of name, email must be supplied")
        return {"people": [{"name": "Ada", "email": "ada@example.org"}]}

    fakes.add("find_people", find, "/people", "name", "email")
    facts = facts_of(fakes, tmp_path, "find_people")
    assert facts.fruitful
    assert True not in [argument.required for argument in facts.arguments.values()]


def test_the_tool_that_a_refusal_names_is_believed(tmp_path: Path) -> None:
    fakes = Fakes()
    owners = {f"it-{n:03}": f"ow-{n * 7:03}" for n in range(30)}

    def record(given: Any) -> Any:
        if owners.get(given["item_id"]) != given["owner_id"]:
            raise refuse(404, f"'{given['owner_id']}' does not own '{given['item_id']}'; list_owners has who does.")
        return {"since": "2020-05-01"}

    fakes.add("list_items", lambda _: {"items": RECORDS})
    fakes.add("list_people", lambda _: {"people": [{"owner_id": owner} for owner in reversed(owners.values())]})
    fakes.add("get_ownership", record, "/items/{item_id}/owners/{owner_id}")
    fakes.add("list_owners", lambda g: {"owners": [{"owner_id": owners[g["item_id"]]}]}, "/items/{item_id}/owners")
    assert facts_of(fakes, tmp_path, "get_ownership").fruitful


def test_what_is_there_already_is_not_made_again_and_again(tmp_path: Path) -> None:
    fakes = Fakes()
    booked = {(f"fl-{n:03}", f"Guest {n}") for n in range(8)}

    def book(given: Any) -> Any:
        pair = (need(given, "flight_id"), need(given, "guest"))
        if pair in booked:
            raise refuse(409, f"'{pair[1]}' has a booking on '{pair[0]}' already.")
        return {"booking_id": "bk-1", "flight_id": pair[0], "guest": pair[1]}

    listed = [
        {"booking_id": f"bk-9{n}", "flight_id": flight, "guest": guest}
        for n, (flight, guest) in enumerate(sorted(booked))
    ]
    fakes.add("list_bookings", lambda _: {"bookings": listed})
    fakes.add("create_booking", book, "/bookings", "flight_id", "guest", method="POST")
    facts = facts_of(fakes, tmp_path, "create_booking", allow_writes=True)
    assert facts.done


def test_other_values_are_tried_while_a_field_was_never_filled(tmp_path: Path) -> None:
    fakes = Fakes()
    by_id = {record["item_id"]: record for record in RECORDS}
    fakes.add("list_items", lambda _: {"items": [{"item_id": r["item_id"]} for r in RECORDS]})

    def item(given: Any) -> Any:
        if given["item_id"] not in by_id:
            raise refuse(404, "no such item")
        return {"name": by_id[given["item_id"]]["name"], "rare": None}

    fakes.add("get_item", item, "/items/{item_id}")
    facts = facts_of(fakes, tmp_path, "get_item")
    assert len([s for s in facts.done if s.purpose in ("discover", "vary")]) > 4


def test_a_refusal_with_the_status_of_a_success_is_no_answer(tmp_path: Path) -> None:
    fakes = Fakes()

    def channel(given: Any) -> Any:
        if "channel" not in given:
            return {"ok": False, "error": "missing required argument: channel"}
        return {"ok": True, "members": ["ada", "bob"]}

    fakes.add("list_members", channel, "/members", "channel")
    facts = facts_of(fakes, tmp_path, "list_members")
    assert facts.arguments["channel"].required is True
    assert all(sample.response["ok"] for sample in facts.fruitful)


def test_gaps_and_records() -> None:
    seen = [{"rows": [{"a": 1, "b": None}, {"a": None, "b": None, "c": []}], "page": 1}, {"rows": []}]
    assert gaps(seen) == {"rows[].b", "rows[].c"}
    assert records(seen) == 2
    assert (gaps([]), records([]), records([7])) == (set(), 0, 0)


def test_what_stands_one_step_above_has_the_keys(tmp_path: Path) -> None:
    fakes = Fakes()
    settings = {"mainframe": {"cores": 4}, "tapedrive": {"reels": 2}}

    def section(given: Any) -> Any:
        if given["section"] not in settings:
            raise refuse(404, "Not Found")
        return settings[given["section"]]

    fakes.add("get_settings", lambda _: settings, "/settings")
    fakes.add("get_section", section, "/settings/{section}")
    assert facts_of(fakes, tmp_path, "get_section").fruitful


def test_a_write_that_says_no_in_a_success_is_tried_with_other_values(tmp_path: Path) -> None:
    fakes = Fakes()
    tickets = {"tk-1": "open", "tk-2": "open"}
    seen = set()

    def close(given: Any) -> Any:
        ticket = need(given, "ticket_id")
        if ticket not in tickets or ticket in seen:
            return {"error": f"Ticket {ticket} not found."}
        seen.add(ticket)
        return {"ticket_id": ticket, "state": "closed"}

    fakes.add("list_tickets", lambda _: {"tickets": [{"ticket_id": t, "state": s} for t, s in tickets.items()]})
    fakes.add("add_closing", close, "/closings", "ticket_id", method="POST")
    facts = facts_of(fakes, tmp_path, "add_closing", allow_writes=True)
    assert facts.fruitful
