"""Answers of the flights service about flights and planes: one indexed query or two each."""

# Handlers (context, arguments) -> response. Each one is described by its Operation; SQL is put together from names in
# this module only, values are always bound.
# ruff: noqa: D103, S608

from __future__ import annotations

from toolflow_bench.services.context import Context, Row, paged
from toolflow_bench.services.operation import Arguments, Refusal

DEPARTURE = "flight_id, airline, flight_number, destination, scheduled_departure, tail_number"
ARRIVAL = "flight_id, airline, flight_number, origin, scheduled_arrival, tail_number"
DATED = "flight_id, date, airline, flight_number, origin, destination, scheduled_departure"


def require_airline(context: Context, code: str | None) -> None:
    """Refuse with 404 a code that no airline has, so that a slip does not read as 'no flights'."""
    if code is not None:
        sql = "SELECT code FROM airlines WHERE code = ?"
        context.one(sql, code, otherwise=f"there is no airline {code!r}; search_airlines finds codes.")


def require_airport(context: Context, code: str | None) -> None:
    """Refuse with 404 a code that is neither an airport's nor a destination's."""
    if code is not None:
        sql = "SELECT code FROM airports WHERE code = ?1 UNION SELECT destination FROM routes WHERE destination = ?1"
        context.one(sql, code, otherwise=f"there is no airport {code!r}; search_airports finds codes.")


def list_departures(context: Context, arguments: Arguments) -> Row:
    require_airline(context, arguments["airline"])
    require_airport(context, arguments["destination"])
    first, last = arguments["from_hour"], arguments["to_hour"]
    conditions = {
        "origin = ?": arguments["origin"],
        "date = ?": arguments["date"],
        "airline = ?": arguments["airline"],
        "destination = ?": arguments["destination"],
        "scheduled_departure >= ?": f"{first:02}:00",
        "scheduled_departure <= ?": f"{last:02}:59",
    }
    order = "scheduled_departure, rowid"
    return paged(context, "flights", DEPARTURE, "flights", conditions, order=order, arguments=arguments)


def list_arrivals(context: Context, arguments: Arguments) -> Row:
    require_airline(context, arguments["airline"])
    require_airport(context, arguments["destination"])
    conditions = {f"{name} = ?": arguments[name] for name in ("destination", "date", "origin", "airline")}
    order = "scheduled_arrival, rowid"
    return paged(context, "flights", ARRIVAL, "flights", conditions, order=order, arguments=arguments)


def list_departure_delays(context: Context, arguments: Arguments) -> Row:
    require_airline(context, arguments["airline"])
    conditions = {f"{name} = ?": arguments[name] for name in ("origin", "date", "airline")}
    conditions["departure_delay_minutes >= ?"] = arguments["min_delay_minutes"]
    columns, order = "flight_id, departure_delay_minutes", "scheduled_departure, rowid"
    return paged(context, "flights", columns, "flights", conditions, order=order, arguments=arguments)


def list_cancelled_flights(context: Context, arguments: Arguments) -> Row:
    require_airline(context, arguments["airline"])
    # With the date in one condition: the index on cancelled flights holds no others.
    conditions = {"actual_departure IS NULL AND date = ?": arguments["date"]}
    conditions |= {f"{name} = ?": arguments[name] for name in ("origin", "airline")}
    order = "scheduled_departure, rowid"
    return paged(context, "flights", DATED, "flights", conditions, order=order, arguments=arguments)


def find_flights(context: Context, arguments: Arguments) -> Row:
    require_airline(context, arguments["airline"])
    sql = f"SELECT {DATED} FROM flights WHERE airline = ? AND flight_number = ? AND date = ?"
    sql += " ORDER BY scheduled_departure, rowid"
    return {"flights": context.rows(sql, arguments["airline"], arguments["flight_number"], arguments["date"])}


def get_flight(context: Context, arguments: Arguments) -> Row:
    sql = f"SELECT {DATED}, scheduled_arrival, distance_miles, tail_number FROM flights WHERE flight_id = ?"
    return context.one(sql, arguments["flight_id"], otherwise=_no_flight(arguments["flight_id"]))


def get_flight_status(context: Context, arguments: Arguments) -> Row:
    sql = """
        SELECT flight_id, CASE WHEN actual_departure IS NULL THEN 'cancelled'
                               WHEN arrival_delay_minutes IS NULL THEN 'diverted' ELSE 'landed' END AS status,
            actual_departure, departure_delay_minutes, actual_arrival, arrival_delay_minutes, air_time_minutes
        FROM flights WHERE flight_id = ?"""
    return context.one(sql, arguments["flight_id"], otherwise=_no_flight(arguments["flight_id"]))


def get_plane(context: Context, arguments: Arguments) -> Row:
    sql = """SELECT tail_number, manufacturer, model, year_built, type, engines, engine_type, seats
             FROM planes WHERE tail_number = ?"""
    number = arguments["tail_number"]
    return context.one(sql, number, otherwise=f"there is no registration of a plane {number!r}.")


def search_planes(context: Context, arguments: Arguments) -> Row:
    conditions = {
        "instr(upper(manufacturer), upper(?)) > 0": arguments["manufacturer"],
        "instr(upper(model), upper(?)) > 0": arguments["model"],
        "year_built >= ?": arguments["min_year"],
        "year_built <= ?": arguments["max_year"],
        "seats >= ?": arguments["min_seats"],
        "seats <= ?": arguments["max_seats"],
    }
    columns = "tail_number, manufacturer, model"
    return paged(context, "planes", columns, "planes", conditions, order="tail_number", arguments=arguments)


def list_plane_flights(context: Context, arguments: Arguments) -> Row:
    _require_flown(context, arguments["tail_number"])
    conditions = {
        "tail_number = ?": arguments["tail_number"],
        "date >= ?": arguments["start_date"],
        "date <= ?": arguments["end_date"],
    }
    order = "date, scheduled_departure, rowid"
    return paged(context, "flights", DATED, "flights", conditions, order=order, arguments=arguments)


def list_plane_airlines(context: Context, arguments: Arguments) -> Row:
    number = arguments["tail_number"]
    _require_flown(context, number)
    return {"airlines": context.column("SELECT airline FROM fleets WHERE tail_number = ? ORDER BY airline", number)}


def list_airline_planes(context: Context, arguments: Arguments) -> Row:
    require_airline(context, arguments["airline"])
    conditions = {"airline = ?": arguments["airline"]}
    return paged(context, "planes", "tail_number", "fleets", conditions, order="tail_number", arguments=arguments)


def list_manufacturers(context: Context, _arguments: Arguments) -> Row:
    return {"manufacturers": context.column("SELECT DISTINCT manufacturer FROM planes ORDER BY manufacturer")}


def list_plane_models(context: Context, arguments: Arguments) -> Row:
    name = arguments["manufacturer"]
    models = context.column("SELECT DISTINCT model FROM planes WHERE manufacturer = ? ORDER BY model", name.upper())
    if not models:
        raise Refusal(404, f"there is no manufacturer {name!r}; list_manufacturers has the names.")
    return {"models": models}


def _require_flown(context: Context, number: str) -> None:
    sql = "SELECT tail_number FROM fleets WHERE tail_number = ?"
    context.one(sql, number, otherwise=f"no flight was flown by a plane {number!r}; flights name tail numbers.")


def _no_flight(flight_id: str) -> str:
    return f"there is no flight {flight_id!r}; list_departures and find_flights give flight ids."
