"""Answers of the booking desk: bookings of before, as the data has them, and what a run's writes changed."""

# Handlers (context, arguments) -> response. Each one is described by its Operation; SQL is put together from names in
# this module only, values are always bound.
# ruff: noqa: D103, S608

from __future__ import annotations

from toolflow_bench.services.context import Context, Row, paged
from toolflow_bench.services.flights.queries import get_flight, get_flight_status, require_airline
from toolflow_bench.services.operation import Arguments, Refusal

# Bookings of before are read only: one that is cancelled is named in the state by flight and passenger.
_MADE, _CANCELLED = "bookings", "cancellations"
_BOOKING = "booking_id, flight_id, passenger, cabin, seats"


def list_bookings(context: Context, arguments: Arguments) -> Row:
    passenger, size = arguments["passenger"], arguments["page_size"]
    start = (arguments["page"] - 1) * size
    where, values = ("TRUE", []) if passenger is None else ("passenger = ?", [passenger])
    held = context.column(f"SELECT count(*) FROM bookings WHERE {where}", *values)[0]
    sql = f"SELECT booking_id, passenger FROM bookings WHERE {where} ORDER BY rowid LIMIT ? OFFSET ?"
    made = [_name(one) for one in context.state.all(_MADE) if passenger is None or _same(one["passenger"], passenger)]
    shown = context.rows(sql, *values, size, start) + made[max(0, start - held) : max(0, start + size - held)]
    total = held + len(made)
    return {"bookings": shown, "page": arguments["page"], "pages": max(1, -(-total // size)), "total": total}


def list_flight_bookings(context: Context, arguments: Arguments) -> Row:
    flight_id = get_flight(context, arguments)["flight_id"]
    sql = "SELECT booking_id, passenger FROM bookings WHERE flight_id = ? ORDER BY rowid"
    made = [_name(one) for one in context.state.all(_MADE) if one["flight_id"] == flight_id]
    return {"bookings": context.rows(sql, flight_id) + made}


def get_booking(context: Context, arguments: Arguments) -> Row:
    name = arguments["booking_id"]
    for booking in context.state.all(_MADE):
        if booking["booking_id"] == name:
            return booking
    missing = f"there is no booking {name!r}; list_bookings has those there are."
    booking = context.one(f"SELECT {_BOOKING} FROM bookings WHERE booking_id = ?", name, otherwise=missing)
    return booking | {"status": "cancelled" if _is_cancelled(context, booking) else "confirmed"}


def create_booking(context: Context, arguments: Arguments) -> Row:
    flight_id, passenger = arguments["flight_id"], arguments["passenger"]
    if get_flight_status(context, arguments)["status"] == "cancelled":
        raise Refusal(409, f"the flight {flight_id!r} was cancelled and takes no bookings; choose another.")
    for other in list_flight_bookings(context, arguments)["bookings"]:
        if _same(other["passenger"], passenger) and get_booking(context, other)["status"] == "confirmed":
            raise Refusal(
                409, f"{passenger!r} has the booking {other['booking_id']!r} on this flight; cancel it first."
            )
    booking = {name: arguments[name] for name in ("flight_id", "passenger", "cabin", "seats")}
    return dict(context.state.add(_MADE, booking | {"status": "confirmed"}, id_field="booking_id", prefix="bk"))


def cancel_booking(context: Context, arguments: Arguments) -> Row:
    booking = _confirmed(context, arguments)
    name = booking["booking_id"]
    if any(made["booking_id"] == name for made in context.state.all(_MADE)):
        context.state.change(_MADE, name, otherwise="", status="cancelled")
    cancelled = {"flight_id": booking["flight_id"], "passenger": booking["passenger"], "refund": arguments["refund"]}
    context.state.add(_CANCELLED, cancelled, id_field="cancellation_id", prefix="cn")
    return booking | {"status": "cancelled"}


def request_assistance(context: Context, arguments: Arguments) -> Row:
    booking = _confirmed(context, arguments)
    wanted = {"flight_id": booking["flight_id"], "passenger": booking["passenger"], "kind": arguments["kind"]}
    return dict(context.state.add("assistance_requests", wanted, id_field="request_id", prefix="as"))


def send_delay_notice(context: Context, arguments: Arguments) -> Row:
    get_flight(context, arguments)
    notice = {name: arguments[name] for name in ("flight_id", "delay_minutes", "channel")}
    return dict(context.state.add("delay_notices", notice, id_field="notice_id", prefix="dn"))


def list_flight_dates(context: Context, arguments: Arguments) -> Row:
    require_airline(context, arguments["airline"])
    conditions = {
        "airline = ?": arguments["airline"],
        "flight_number = ?": arguments["flight_number"],
        "date >= ?": arguments["start_date"],
        "date <= ?": arguments["end_date"],
    }
    order = "date, scheduled_departure, rowid"
    return paged(context, "flights", "flight_id, date", "flights", conditions, order=order, arguments=arguments)


def _name(booking: Row) -> Row:
    return {"booking_id": booking["booking_id"], "passenger": booking["passenger"]}


def _same(passenger: object, other: str) -> bool:
    return str(passenger).lower() == other.lower()


def _is_cancelled(context: Context, booking: Row) -> bool:
    return any(
        (one["flight_id"], one["passenger"]) == (booking["flight_id"], booking["passenger"])
        for one in context.state.all(_CANCELLED)
    )


def _confirmed(context: Context, arguments: Arguments) -> Row:
    booking = get_booking(context, arguments)
    if booking["status"] == "cancelled":
        raise Refusal(409, f"the booking {arguments['booking_id']!r} is cancelled already; nothing was done.")
    return booking
