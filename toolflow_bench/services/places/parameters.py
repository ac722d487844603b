"""Parameters of the places service. One thing has one name in every operation, so that values and links line up."""

from __future__ import annotations

from typing import Any

from toolflow_bench.services.operation import Parameter
from toolflow_bench.services.places.schemas import LEVELS, REPORTED_FIELDS
from toolflow_bench.services.places.shapes import (
    AIRFIELD_ID,
    ALERT_ID,
    CITY_ID,
    CONTINENT_ID,
    COUNTRY_ID,
    CURRENCY_ID,
    DATE,
    OBSERVATION_ID,
    PLACE_ID,
    PLAN_ID,
    STATE_ID,
    STORM_ID,
    TIME_ZONE_ID,
    text,
    whole,
)

FIRST_SEASON, LAST_SEASON = 1975, 2022


def _given(name: str, schema: Any, description: str) -> Parameter:
    return Parameter(name=name, schema=schema, description=description)


def _optional(name: str, schema: Any, description: str) -> Parameter:
    return Parameter(name=name, schema=schema, description=description, required=False)


QUERY = _given("query", text(60, shortest=2), "Name or the beginning of it; case and accents do not matter.")
AIRFIELD_QUERY = _given(
    "query", text(60, shortest=2), "Words of the name, a town, an ICAO or an IATA code; case and accents do not matter."
)
LIMIT = _optional("limit", whole(1, 50, default=10), "The most results to give.")

STORM = _given("storm_id", STORM_ID, "Id of the storm; search_storms finds it by name.")
OBSERVATION = _given("observation_id", OBSERVATION_ID, "Id of the observation, as list_storm_track gives it.")
SEASON = _given("season", whole(FIRST_SEASON, LAST_SEASON), "Year in which the storms were first observed.")
SEASON_FILTER = _optional("season", whole(FIRST_SEASON, LAST_SEASON), "Only storms first observed in this year.")
FROM_SEASON = _optional(
    "first_season", whole(FIRST_SEASON, LAST_SEASON, default=FIRST_SEASON), "Only storms of this season or later."
)
TO_SEASON = _optional(
    "last_season", whole(FIRST_SEASON, LAST_SEASON, default=LAST_SEASON), "Only storms of this season or earlier."
)
OBSERVED_ON = _given("date", DATE, "Day in UTC, YYYY-MM-DD, from 1975-01-01 to 2022-12-31.")

LATITUDE = _given("latitude", {"type": "number", "minimum": -90, "maximum": 90}, "Latitude in degrees, north positive.")
LONGITUDE = _given(
    "longitude", {"type": "number", "minimum": -180, "maximum": 180}, "Longitude in degrees, east positive."
)
RADIUS = _given(
    "radius_km", {"type": "number", "minimum": 1, "maximum": 300}, "How far from the point, in kilometres, 300 at most."
)

CITY = _given("city_id", CITY_ID, "Id of the city; search_cities finds it by name.")
COUNTRY = _given("country_id", COUNTRY_ID, "Id of the country; search_countries finds it by name.")
COUNTRY_FILTER = _optional(
    "country_id", COUNTRY_ID, "Only cities of this country; search_countries finds its id by name."
)
CONTINENT = _given("continent_id", CONTINENT_ID, "Id of the continent; list_continents has them.")
CURRENCY = _given("currency_id", CURRENCY_ID, "Id of the currency, as get_country gives it.")
TIME_ZONE = _given("time_zone_id", TIME_ZONE_ID, "Id of the time zone, as get_city or get_airfield gives it.")
STATE = _given("state_id", STATE_ID, "Id of the state; list_us_states has them.")
AIRFIELD = _given("airfield_id", AIRFIELD_ID, "Id of the airfield; search_airfields finds it by name.")
MIN_POPULATION = _optional(
    "min_population", whole(0, 50_000_000, default=0), "Only cities of at least this many inhabitants."
)
CODES = _optional(
    "codes",
    {"type": "string", "enum": ["any", "iata"], "default": "any"},
    "iata: only airfields that have an IATA code, as those with scheduled flights do; any: all of them.",
)
MIN_ELEVATION = _optional(
    "min_elevation_ft", whole(-2000, 20_000), "Only airfields at least this high above the sea, in feet."
)
FROM_PLACE = _given("from_place_id", PLACE_ID, "Id of a city, an airfield or an observation of a storm.")
TO_PLACE = _given("to_place_id", PLACE_ID, "Id of the other city, airfield or observation.")

PLAN = _given("plan_id", PLAN_ID, "Id of the trip plan, as create_trip_plan gives it.")
START_CITY = _given("start_city_id", CITY_ID, "Id of the city that the trip starts from.")
START_DATE = _given("start_date", DATE, "Date on which the trip starts, YYYY-MM-DD.")
TRAVELLERS = _given("travellers", whole(1, 50), "How many people travel.")
NIGHTS = _given("nights", whole(1, 90), "Nights to spend there.")
ALERT = _given("alert_id", ALERT_ID, "Id of the alert, as list_storm_alerts gives it.")
ALERT_RADIUS = _given("radius_km", whole(10, 1000), "How near to the city a storm must come, in kilometres.")
ALERT_WIND = _given("min_wind_kt", whole(20, 160), "The least sustained wind that raises the alert, in knots.")
NEW_RADIUS = _optional("radius_km", whole(10, 1000), "The new radius in kilometres; left as it is if not given.")
NEW_WIND = _optional("min_wind_kt", whole(20, 160), "The new least wind in knots; left as it is if not given.")
LEVEL = _given("level", {"type": "string", "enum": list(LEVELS)}, "How grave the notice is.")
REPORTED_PLACE = _given("place_id", PLACE_ID, "Id of the city, airfield or observation whose record seems wrong.")
REPORTED_FIELD = _given(
    "field",
    {"type": "string", "enum": list(REPORTED_FIELDS)},
    "The field that seems wrong: population is a city's, elevation an airfield's, wind an observation's.",
)

PAGING = (
    _optional("page", whole(1, 100_000, default=1), "Number of the page, from 1."),
    _optional("page_size", whole(1, 100, default=20), "How many items a page has at most."),
)
