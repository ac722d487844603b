"""Cities, their time zones and the states of the United States: what is asked, and the answers."""

# Handlers (context, arguments) -> response. Each one is described by its Operation; SQL is put together from names in
# this module only, values are always bound.
# ruff: noqa: D103

from __future__ import annotations

from toolflow_bench.services.context import Context, Row, paged
from toolflow_bench.services.operation import Arguments, Operation
from toolflow_bench.services.places import parameters as p
from toolflow_bench.services.places.countries import get_country
from toolflow_bench.services.places.geometry import page_of_rows, rows_near
from toolflow_bench.services.places.links import CITY_USES, COUNTRY_USES, POSITION_LINKS, STATE_USES, ZONE_USES
from toolflow_bench.services.places.names import after, fold


def search_cities(context: Context, arguments: Arguments) -> Row:
    query, country = fold(arguments["query"]), arguments["country_id"]
    if country is not None:
        get_country(context, arguments)
    # Of two letters only whole names: a tenth of all cities begin with some of them.
    end = after(query) if len(query) > 2 else query + " "
    sql = """SELECT city_id, name, country_id FROM cities JOIN
                 (SELECT city_id, max(folded = ?1) AS exact FROM city_names WHERE folded >= ?1 AND folded < ?2
                  GROUP BY city_id) USING (city_id)
             WHERE country_id = coalesce(?3, country_id)
             ORDER BY exact DESC, population DESC, city_id LIMIT ?4"""
    return {"cities": context.rows(sql, query, end, country, arguments["limit"]) if query else []}


def get_city(context: Context, arguments: Arguments) -> Row:
    sql = """SELECT city_id, name, latitude, longitude, population, country_id, state_id, time_zone_id
             FROM cities WHERE city_id = ?"""
    city = arguments["city_id"]
    return context.one(sql, city, otherwise=f"there is no city {city!r}; search_cities finds ids.")


def list_cities_near(context: Context, arguments: Arguments) -> Row:
    least = (arguments["min_population"],)
    near = rows_near(
        context, "city_id", "cities", arguments, arguments["radius_km"], also="population >= ?", values=least
    )
    found = [{"city_id": row["city_id"], "distance_km": round(distance, 1)} for distance, row in near]
    return page_of_rows("cities", found, arguments)


def list_country_cities(context: Context, arguments: Arguments) -> Row:
    get_country(context, arguments)
    conditions = {"country_id = ?": arguments["country_id"], "population >= ?": arguments["min_population"]}
    return paged(context, "cities", "city_id, name", "cities", conditions, order="name, rowid", arguments=arguments)


def list_state_cities(context: Context, arguments: Arguments) -> Row:
    get_us_state(context, arguments)
    conditions = {"state_id = ?": arguments["state_id"], "population >= ?": arguments["min_population"]}
    return paged(context, "cities", "city_id, name", "cities", conditions, order="name, rowid", arguments=arguments)


def get_time_zone(context: Context, arguments: Arguments) -> Row:
    zone = arguments["time_zone_id"]
    missing = f"there is no time zone {zone!r}; get_city and get_airfield give ids."
    return context.one("SELECT time_zone_id, name FROM time_zones WHERE time_zone_id = ?", zone, otherwise=missing)


def list_country_time_zones(context: Context, arguments: Arguments) -> Row:
    get_country(context, arguments)
    sql = """SELECT time_zone_id, name FROM time_zones WHERE time_zone_id IN
             (SELECT time_zone_id FROM cities WHERE country_id = ?) ORDER BY name"""
    return {"time_zones": context.rows(sql, arguments["country_id"])}


def list_cities_in_time_zone(context: Context, arguments: Arguments) -> Row:
    get_time_zone(context, arguments)
    conditions = {"time_zone_id = ?": arguments["time_zone_id"], "population >= ?": arguments["min_population"]}
    columns = "city_id, country_id"
    return paged(context, "cities", columns, "cities", conditions, order="name, rowid", arguments=arguments)


def list_us_states(context: Context, _arguments: Arguments) -> Row:
    return {"states": context.rows("SELECT state_id, name FROM us_states ORDER BY name")}


def get_us_state(context: Context, arguments: Arguments) -> Row:
    state = arguments["state_id"]
    sql = "SELECT state_id, name, postal_code, fips_code FROM us_states WHERE state_id = ?"
    return context.one(sql, state, otherwise=f"there is no state {state!r}; list_us_states has the ids.")


def list_state_counties(context: Context, arguments: Arguments) -> Row:
    get_us_state(context, arguments)
    conditions = {"state_id = ?": arguments["state_id"]}
    order = "name, fips_code"
    return paged(context, "counties", "name, fips_code", "counties", conditions, order=order, arguments=arguments)


CITY_OPERATIONS = (
    Operation(
        id="search_cities",
        tag="cities",
        path="/cities",
        description=(
            "Find cities of 15,000 inhabitants or more by name, whole or its beginning, in English or as they call "
            "themselves. Cities of exactly this name come first, then by inhabitants; get_city tells namesakes apart."
        ),
        parameters=(p.QUERY, p.COUNTRY_FILTER, p.LIMIT),
        returns="FoundCities",
        handler=search_cities,
        missing="There is no country of this id.",
        links=(("/cities/0/city_id", CITY_USES), ("/cities/0/country_id", COUNTRY_USES)),
    ),
    Operation(
        id="get_city",
        tag="cities",
        path="/cities/{city_id}",
        description="One city: name, position, inhabitants, country, time zone and, in the United States, its state.",
        parameters=(p.CITY,),
        returns="City",
        handler=get_city,
        missing="There is no city of this id.",
        links=(
            ("/country_id", COUNTRY_USES),
            ("/state_id", STATE_USES),
            ("/time_zone_id", ZONE_USES),
            *POSITION_LINKS,
        ),
    ),
    Operation(
        id="list_cities_near",
        tag="cities",
        path="/cities_near",
        description=(
            "Cities within a distance of a point, in pages, nearest first. A city at the point itself is among them."
        ),
        parameters=(p.LATITUDE, p.LONGITUDE, p.RADIUS, p.MIN_POPULATION, *p.PAGING),
        returns="NearCityPage",
        handler=list_cities_near,
        links=(("/cities/0/city_id", CITY_USES),),
    ),
    Operation(
        id="list_country_cities",
        tag="cities",
        path="/countries/{country_id}/cities",
        description="The cities of one country, in pages by name (names that begin with an accent come last).",
        parameters=(p.COUNTRY, p.MIN_POPULATION, *p.PAGING),
        returns="CityPage",
        handler=list_country_cities,
        missing="There is no country of this id.",
        links=(("/cities/0/city_id", CITY_USES),),
    ),
    Operation(
        id="list_state_cities",
        tag="states",
        path="/us_states/{state_id}/cities",
        description="The cities of one state of the United States, in pages by name.",
        parameters=(p.STATE, p.MIN_POPULATION, *p.PAGING),
        returns="CityPage",
        handler=list_state_cities,
        missing="There is no state of this id.",
        links=(("/cities/0/city_id", CITY_USES),),
    ),
    Operation(
        id="get_time_zone",
        tag="time zones",
        path="/time_zone_records/{time_zone_id}",
        description="The IANA name of one time zone.",
        parameters=(p.TIME_ZONE,),
        returns="TimeZone",
        handler=get_time_zone,
        missing="There is no time zone of this id.",
    ),
    Operation(
        id="list_country_time_zones",
        tag="time zones",
        path="/countries/{country_id}/time_zones",
        description="The time zones that the cities of one country lie in, by name.",
        parameters=(p.COUNTRY,),
        returns="TimeZones",
        handler=list_country_time_zones,
        missing="There is no country of this id.",
        links=(("/time_zones/0/time_zone_id", ZONE_USES),),
    ),
    Operation(
        id="list_cities_in_time_zone",
        tag="time zones",
        path="/time_zone_records/{time_zone_id}/cities",
        description="The cities that lie in one time zone, whatever their country, in pages by name.",
        parameters=(p.TIME_ZONE, p.MIN_POPULATION, *p.PAGING),
        returns="ZoneCityPage",
        handler=list_cities_in_time_zone,
        missing="There is no time zone of this id.",
        links=(("/cities/0/city_id", CITY_USES), ("/cities/0/country_id", COUNTRY_USES)),
    ),
    Operation(
        id="list_us_states",
        tag="states",
        path="/us_states",
        description="The fifty states of the United States and the District of Columbia, by name.",
        returns="StateNames",
        handler=list_us_states,
        links=(("/states/0/state_id", STATE_USES),),
    ),
    Operation(
        id="get_us_state",
        tag="states",
        path="/us_states/{state_id}",
        description="One state of the United States: name, postal code and FIPS code.",
        parameters=(p.STATE,),
        returns="State",
        handler=get_us_state,
        missing="There is no state of this id.",
    ),
    Operation(
        id="list_state_counties",
        tag="states",
        path="/us_states/{state_id}/counties",
        description="The counties of one state, or what it has in their place (parishes, boroughs), in pages by name.",
        parameters=(p.STATE, *p.PAGING),
        returns="CountyPage",
        handler=list_state_counties,
        missing="There is no state of this id.",
    ),
)
