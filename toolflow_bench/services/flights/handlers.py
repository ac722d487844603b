"""Handlers of the flights service that need more than a query: searches and bookings."""

# Handlers (context, arguments) -> response, each described by the operation of its name in
# `openapi.yaml`.
# ruff: noqa: D103

from __future__ import annotations

from toolflow_bench.services.answers import Context, Row, page_of
from toolflow_bench.services.flights.names import match_score, plain_words, search_text
from toolflow_bench.services.geometry import rows_near
from toolflow_bench.services.operation import Arguments, Refusal

# Earlier bookings are read-only. A cancelled one is recorded in the state, by flight and passenger.
_MADE = "bookings"
_CANCELLED = "cancellations"


def search_airports(context: Context, arguments: Arguments) -> Row:
    query = arguments["query"]
    if not (wanted := plain_words(query)):
        return {"airports": []}
    every = " AND ".join("search LIKE ?" for _ in wanted)
    sql = f"""
        SELECT code, name, search, flights FROM airports
        WHERE ({every}) OR search LIKE ?"""  # noqa: S608 - no values
    found = context.rows(sql, [f"%{word}%" for word in [*wanted, "".join(wanted)]])

    def rank(row: Row) -> tuple[bool, int, int, str]:
        return (
            row["code"] != query.strip().upper(),
            -match_score(wanted, row["search"]),
            -row["flights"],
            row["code"],
        )

    best = sorted(found, key=rank)[: arguments["limit"]]
    return {"airports": [{"code": row["code"], "name": row["name"]} for row in best]}


def search_airlines(context: Context, arguments: Arguments) -> Row:
    wanted = plain_words(arguments["query"])

    def fit(row: Row) -> int:
        return match_score(wanted, search_text(f"{row['code']} {row['name']}"))

    # The sort is stable: airlines that fit alike stay in the order of their codes.
    found = [
        row for row in context.rows("SELECT code, name FROM airlines ORDER BY code") if fit(row)
    ]
    return {"airlines": sorted(found, key=fit, reverse=True)}


def list_nearby_airports(context: Context, arguments: Arguments) -> Row:
    centre = context.record("airport", arguments) | {"radius_km": arguments["radius_km"]}
    near = rows_near(context, "code", "airports", centre, also="code != :code")
    return {"airports": [{"code": row["code"], "distance_km": row["distance_km"]} for row in near]}


def delete_watch(context: Context, arguments: Arguments) -> Row:
    watch = arguments["watch_id"]
    return context.state.remove(
        "watches",
        watch,
        otherwise=f"there is no watch {watch!r}; list_watches has those there are.",
    )


def list_bookings(context: Context, arguments: Arguments) -> Row:
    passenger = arguments["passenger"]
    sql = (
        "SELECT booking_id, passenger FROM bookings WHERE passenger = coalesce(:passenger, "
        "passenger) ORDER BY rowid"
    )
    made = [
        _name(one)
        for one in context.state.all(_MADE)
        if passenger is None or _is_same(one["passenger"], passenger)
    ]
    return page_of("bookings", context.rows(sql, arguments) + made, arguments)


def list_flight_bookings(context: Context, arguments: Arguments) -> Row:
    sql = "SELECT booking_id, passenger FROM bookings WHERE flight_id = :flight_id ORDER BY rowid"
    made = [
        _name(one) for one in context.state.all(_MADE) if one["flight_id"] == arguments["flight_id"]
    ]
    return {"bookings": context.rows(sql, arguments) + made}


def get_booking(context: Context, arguments: Arguments) -> Row:
    for booking in context.state.all(_MADE):
        if booking["booking_id"] == arguments["booking_id"]:
            return booking
    booking = context.record("booking", arguments)
    who = booking["flight_id"], booking["passenger"]
    gone = any((one["flight_id"], one["passenger"]) == who for one in context.state.all(_CANCELLED))
    return booking | {"status": "cancelled" if gone else "confirmed"}


def create_booking(context: Context, arguments: Arguments) -> Row:
    flight_id = arguments["flight_id"]
    passenger = arguments["passenger"]
    if context.record("flight", arguments)["actual_departure"] is None:
        raise Refusal(
            409, f"the flight {flight_id!r} was cancelled and takes no bookings; choose another."
        )
    for other in list_flight_bookings(context, arguments)["bookings"]:
        if (
            _is_same(other["passenger"], passenger)
            and get_booking(context, other)["status"] == "confirmed"
        ):
            raise Refusal(
                409,
                f"{passenger!r} has the booking {other['booking_id']!r} on this flight; cancel it "
                "first.",
            )
    booking = {name: arguments[name] for name in ("flight_id", "passenger", "cabin", "seats")}
    return dict(
        context.state.add(
            _MADE, booking | {"status": "confirmed"}, id_field="booking_id", prefix="bk"
        )
    )


def cancel_booking(context: Context, arguments: Arguments) -> Row:
    booking = _confirmed_booking(context, arguments)
    name = booking["booking_id"]
    if any(made["booking_id"] == name for made in context.state.all(_MADE)):
        context.state.change(_MADE, name, otherwise="", status="cancelled")
    cancelled = {
        "flight_id": booking["flight_id"],
        "passenger": booking["passenger"],
        "refund": arguments["refund"],
    }
    context.state.add(_CANCELLED, cancelled, id_field="cancellation_id", prefix="cn")
    return booking | {"status": "cancelled"}


def request_assistance(context: Context, arguments: Arguments) -> Row:
    booking = _confirmed_booking(context, arguments)
    wanted = {
        "flight_id": booking["flight_id"],
        "passenger": booking["passenger"],
        "kind": arguments["kind"],
    }
    return dict(
        context.state.add("assistance_requests", wanted, id_field="request_id", prefix="as")
    )


def _name(booking: Row) -> Row:
    return {"booking_id": booking["booking_id"], "passenger": booking["passenger"]}


def _is_same(passenger: object, other: str) -> bool:
    return str(passenger).lower() == other.lower()


def _confirmed_booking(context: Context, arguments: Arguments) -> Row:
    booking = get_booking(context, arguments)
    if booking["status"] == "cancelled":
        raise Refusal(
            409, f"the booking {arguments['booking_id']!r} is cancelled already; nothing was done."
        )
    return booking
