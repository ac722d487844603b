"""Answers of the flights service about airports, airlines, routes, weather and watches."""

# Handlers (context, arguments) -> response. Each one is described by its Operation; SQL is put together from names in
# this module only, values are always bound.
# ruff: noqa: D103, S608

from __future__ import annotations

import math

from toolflow_bench.services.context import Context, Row, paged
from toolflow_bench.services.flights.names import match, search_text, words
from toolflow_bench.services.flights.queries import get_flight, require_airport
from toolflow_bench.services.operation import Arguments, Refusal

EARTH_RADIUS_KM = 6371.0


def search_airports(context: Context, arguments: Arguments) -> Row:
    query = arguments["query"]
    if not (wanted := words(query)):
        return {"airports": []}
    every = " AND ".join("search LIKE ?" for _ in wanted)
    sql = f"SELECT code, name, search, flights FROM airports WHERE ({every}) OR search LIKE ?"
    found = context.rows(sql, *(f"%{word}%" for word in [*wanted, "".join(wanted)]))

    def rank(row: Row) -> tuple[bool, int, int, str]:
        return (row["code"] != query.strip().upper(), -match(wanted, row["search"]), -row["flights"], row["code"])

    best = sorted(found, key=rank)[: arguments["limit"]]
    return {"airports": [{"code": row["code"], "name": row["name"]} for row in best]}


def get_airport(context: Context, arguments: Arguments) -> Row:
    sql = """SELECT code, name, latitude, longitude, altitude_ft, time_zone, utc_offset_hours
             FROM airports WHERE code = ?"""
    code = arguments["airport"]
    return context.one(sql, code, otherwise=f"there is no record of an airport {code!r}; search_airports finds codes.")


def list_nearby_airports(context: Context, arguments: Arguments) -> Row:
    centre, radius = get_airport(context, arguments), arguments["radius_km"]
    # One degree of latitude is at least 110 km everywhere. No airport is so near a pole that longitude is no help.
    north, east = centre["latitude"], centre["longitude"]
    high = radius / 110
    wide = high / max(0.1, math.cos(math.radians(min(89.0, abs(north) + high))))
    sql = """SELECT code, latitude, longitude FROM airports
             WHERE latitude BETWEEN ? AND ? AND code != ?
             AND (abs(longitude - ?) <= ? OR abs(longitude - ?) >= 360 - ?)"""
    near = context.rows(sql, north - high, north + high, centre["code"], east, wide, east, wide)
    distances = sorted((_kilometres(centre, other), other["code"]) for other in near)
    return {"airports": [{"code": code, "distance_km": round(km, 1)} for km, code in distances if km <= radius]}


def _kilometres(one: Row, other: Row) -> float:
    """Great-circle distance."""
    north, south = math.radians(one["latitude"]), math.radians(other["latitude"])
    half_width = math.radians(one["longitude"] - other["longitude"]) / 2
    part = math.sin((north - south) / 2) ** 2 + math.cos(north) * math.cos(south) * math.sin(half_width) ** 2
    return 2 * EARTH_RADIUS_KM * math.asin(math.sqrt(min(1.0, part)))


def list_time_zones(context: Context, _arguments: Arguments) -> Row:
    sql = "SELECT DISTINCT time_zone FROM airports WHERE time_zone IS NOT NULL ORDER BY time_zone"
    return {"time_zones": context.column(sql)}


def list_airports_in_time_zone(context: Context, arguments: Arguments) -> Row:
    zone = arguments["time_zone"]
    page = paged(
        context, "airports", "code, name", "airports", {"time_zone = ?": zone}, order="code", arguments=arguments
    )
    if not page["total"]:
        raise Refusal(404, f"there is no time zone {zone!r} here; list_time_zones has the names.")
    return page


def list_airlines(context: Context, _arguments: Arguments) -> Row:
    return {"airlines": context.rows("SELECT code, name FROM airlines ORDER BY code")}


def search_airlines(context: Context, arguments: Arguments) -> Row:
    wanted = words(arguments["query"])

    def fit(row: Row) -> int:
        return match(wanted, search_text(f"{row['code']} {row['name']}"))

    # The sort is stable: airlines that fit alike stay in the order of their codes.
    found = [row for row in list_airlines(context, {})["airlines"] if fit(row)]
    return {"airlines": sorted(found, key=fit, reverse=True)}


def get_airline(context: Context, arguments: Arguments) -> Row:
    code = arguments["airline"]
    sql = "SELECT code, name FROM airlines WHERE code = ?"
    return context.one(sql, code, otherwise=f"there is no airline {code!r}; search_airlines finds codes.")


def list_destinations(context: Context, arguments: Arguments) -> Row:
    sql = "SELECT DISTINCT destination FROM routes WHERE origin = ? ORDER BY destination"
    return {"destinations": context.column(sql, arguments["origin"])}


def get_route(context: Context, arguments: Arguments) -> Row:
    sql = "SELECT origin, destination, max(distance_miles) AS distance_miles FROM routes"
    sql += " WHERE origin = ? AND destination = ? GROUP BY origin, destination"
    require_airport(context, arguments["destination"])
    return context.one(sql, arguments["origin"], arguments["destination"], otherwise=_no_route(arguments))


def list_route_airlines(context: Context, arguments: Arguments) -> Row:
    require_airport(context, arguments["destination"])
    sql = "SELECT airline FROM routes WHERE origin = ? AND destination = ? ORDER BY airline"
    if not (airlines := context.column(sql, arguments["origin"], arguments["destination"])):
        raise Refusal(404, _no_route(arguments))
    return {"airlines": airlines}


def _no_route(arguments: Arguments) -> str:
    origin, destination = arguments["origin"], arguments["destination"]
    return f"no flight goes from {origin!r} to {destination!r}; list_destinations has those of an airport."


def get_weather(context: Context, arguments: Arguments) -> Row:
    airport, date, hour = arguments["airport"], arguments["date"], arguments["hour"]
    sql = "SELECT * FROM weather WHERE airport = ? AND date = ? AND hour = ? ORDER BY rowid"
    missing = (
        f"there is no reading at {airport!r} on {date} in hour {hour}; list_hourly_weather has the hours there are."
    )
    return context.one(sql, airport, date, hour, otherwise=missing)


def list_hourly_weather(context: Context, arguments: Arguments) -> Row:
    sql = """SELECT hour, temperature_f, wind_speed_mph, precipitation_inches, visibility_miles
             FROM weather WHERE airport = ? AND date = ? ORDER BY hour, rowid"""
    return {"hours": context.rows(sql, arguments["airport"], arguments["date"])}


def get_available_dates(context: Context, _arguments: Arguments) -> Row:
    # Of one airport, and one at a time: so the index on (origin, date) answers at once.
    first, last = (f"(SELECT {end}(date) FROM flights WHERE origin = 'JFK')" for end in ("min", "max"))
    return context.rows(f"SELECT {first} AS first_date, {last} AS last_date")[0]


def create_watch(context: Context, arguments: Arguments) -> Row:
    flight_id = get_flight(context, arguments)["flight_id"]
    watch = {"flight_id": flight_id, "note": arguments["note"]}
    return dict(context.state.add("watches", watch, id_field="watch_id", prefix="w"))


def list_watches(context: Context, _arguments: Arguments) -> Row:
    return {"watches": context.state.all("watches")}


def delete_watch(context: Context, arguments: Arguments) -> Row:
    watch = arguments["watch_id"]
    missing = f"there is no watch {watch!r}; list_watches has those there are."
    return context.state.remove("watches", watch, otherwise=missing)
