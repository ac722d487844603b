"""Airfields, and the distance between any two places: what is asked, and the answers."""

# Handlers (context, arguments) -> response. Each one is described by its Operation; SQL is put together from names in
# this module only, values are always bound.
# ruff: noqa: D103, S608

from __future__ import annotations

from toolflow_bench.services.context import Context, Row, paged
from toolflow_bench.services.operation import Arguments, Operation
from toolflow_bench.services.places import parameters as p
from toolflow_bench.services.places.cities import get_city
from toolflow_bench.services.places.countries import get_country
from toolflow_bench.services.places.geometry import kilometres, page_of_rows, rows_near
from toolflow_bench.services.places.links import AIRFIELD_USES, COUNTRY_USES, POSITION_LINKS, ZONE_USES
from toolflow_bench.services.places.names import after, telling_words
from toolflow_bench.services.places.storms import get_observation


def search_airfields(context: Context, arguments: Arguments) -> Row:
    query = arguments["query"].strip()
    words = telling_words(query)
    if not words:
        return {"airfields": []}
    one = "SELECT airfield_id FROM airfield_words WHERE word >= ? AND word < ?"
    # The longest first: it leaves the fewest to look at.
    ranges = [end for word in sorted(words, key=len, reverse=True) for end in (word, after(word))]
    code = query.upper()
    sql = f"""SELECT airfield_id, name FROM airfields WHERE airfield_id IN ({" INTERSECT ".join([one] * len(words))})
              ORDER BY ? IN (icao, iata) DESC, lower(name) = ? DESC, iata IS NULL, name, icao LIMIT ?"""
    return {"airfields": context.rows(sql, *ranges, code, query.lower(), arguments["limit"])}


def get_airfield(context: Context, arguments: Arguments) -> Row:
    airfield = arguments["airfield_id"]
    missing = f"there is no airfield {airfield!r}; search_airfields finds ids."
    return context.one("SELECT * FROM airfields WHERE airfield_id = ?", airfield, otherwise=missing)


def list_airfields_near(context: Context, arguments: Arguments) -> Row:
    also = "iata IS NOT NULL" if arguments["codes"] == "iata" else "TRUE"
    near = rows_near(context, "airfield_id", "airfields", arguments, arguments["radius_km"], also=also)
    found = [{"airfield_id": row["airfield_id"], "distance_km": round(distance, 1)} for distance, row in near]
    return page_of_rows("airfields", found, arguments)


def list_country_airfields(context: Context, arguments: Arguments) -> Row:
    get_country(context, arguments)
    conditions = {"country_id = ?": arguments["country_id"], "elevation_ft >= ?": arguments["min_elevation_ft"]}
    if arguments["codes"] == "iata":
        conditions["iata > ?"] = ""
    columns = "airfield_id, icao"
    return paged(context, "airfields", columns, "airfields", conditions, order="icao", arguments=arguments)


def find_place(context: Context, place_id: str) -> Row:
    """The record of a city, an airfield or an observation, all of which have a position."""
    match place_id.partition("_")[0]:
        case "ci":
            return get_city(context, {"city_id": place_id})
        case "af":
            return get_airfield(context, {"airfield_id": place_id})
        case _:
            return get_observation(context, {"observation_id": place_id})


def get_distance(context: Context, arguments: Arguments) -> Row:
    one, other = (find_place(context, arguments[name]) for name in ("from_place_id", "to_place_id"))
    return {"distance_km": round(kilometres(one, other), 1)}


AIRFIELD_OPERATIONS = (
    Operation(
        id="search_airfields",
        tag="airfields",
        path="/airfields",
        description=(
            "Find airfields of the whole world by words of their name, by town or by code. One of exactly this code or "
            "name comes first, then those with an IATA code, each group by name."
        ),
        parameters=(p.AIRFIELD_QUERY, p.LIMIT),
        returns="FoundAirfields",
        handler=search_airfields,
        links=(("/airfields/0/airfield_id", AIRFIELD_USES),),
    ),
    Operation(
        id="get_airfield",
        tag="airfields",
        path="/airfields/{airfield_id}",
        description="One airfield: name, codes, town, country, position, elevation in feet and time zone.",
        parameters=(p.AIRFIELD,),
        returns="Airfield",
        handler=get_airfield,
        missing="There is no airfield of this id.",
        links=(("/country_id", COUNTRY_USES), ("/time_zone_id", ZONE_USES), *POSITION_LINKS),
    ),
    Operation(
        id="list_airfields_near",
        tag="airfields",
        path="/airfields_near",
        description="Airfields within a distance of a point, in pages, nearest first. Private strips are among them.",
        parameters=(p.LATITUDE, p.LONGITUDE, p.RADIUS, p.CODES, *p.PAGING),
        returns="NearAirfieldPage",
        handler=list_airfields_near,
        links=(("/airfields/0/airfield_id", AIRFIELD_USES),),
    ),
    Operation(
        id="list_country_airfields",
        tag="airfields",
        path="/countries/{country_id}/airfields",
        description="The airfields of one country, in pages by ICAO code.",
        parameters=(p.COUNTRY, p.CODES, p.MIN_ELEVATION, *p.PAGING),
        returns="AirfieldPage",
        handler=list_country_airfields,
        missing="There is no country of this id.",
        links=(("/airfields/0/airfield_id", AIRFIELD_USES),),
    ),
    Operation(
        id="get_distance",
        tag="distances",
        path="/distance",
        description=(
            "Great-circle distance between two places, on a sphere of 6,371 km radius. A place is a city, an airfield "
            "or the centre of a storm in an observation."
        ),
        parameters=(p.FROM_PLACE, p.TO_PLACE),
        returns="Distance",
        handler=get_distance,
        missing="There is no place of one of these ids.",
    ),
)
