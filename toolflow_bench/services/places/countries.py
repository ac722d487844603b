"""Countries, continents and currencies: what is asked, and the answers."""

# Handlers (context, arguments) -> response. Each one is described by its Operation.
# ruff: noqa: D103

from __future__ import annotations

from toolflow_bench.services.context import Context, Row, paged
from toolflow_bench.services.operation import Arguments, Operation
from toolflow_bench.services.places import parameters as p
from toolflow_bench.services.places.links import CITY_USES, COUNTRY_USES
from toolflow_bench.services.places.names import fold


def search_countries(context: Context, arguments: Arguments) -> Row:
    query = fold(arguments["query"])
    sql = """SELECT country_id, name FROM countries
             WHERE instr(' ' || folded, ' ' || ?1) > 0 OR ?1 IN (lower(iso2), lower(iso3))
             ORDER BY folded = ?1 DESC, ?1 IN (lower(iso2), lower(iso3)) DESC, name LIMIT ?2"""
    return {"countries": context.rows(sql, query, arguments["limit"]) if query else []}


def get_country(context: Context, arguments: Arguments) -> Row:
    sql = """SELECT country_id, name, iso2, iso3, continent_id, capital_city_id, currency_id, area_km2, population,
             calling_code FROM countries WHERE country_id = ?"""
    country = arguments["country_id"]
    return context.one(sql, country, otherwise=f"there is no country {country!r}; search_countries finds ids.")


def list_neighbours(context: Context, arguments: Arguments) -> Row:
    get_country(context, arguments)
    sql = """SELECT countries.country_id FROM neighbours JOIN countries ON countries.country_id = neighbour_id
             WHERE neighbours.country_id = ? ORDER BY name"""
    return {"country_ids": context.column(sql, arguments["country_id"])}


def list_continents(context: Context, _arguments: Arguments) -> Row:
    return {"continents": context.rows("SELECT continent_id, name FROM continents ORDER BY name")}


def list_continent_countries(context: Context, arguments: Arguments) -> Row:
    continent = arguments["continent_id"]
    missing = f"there is no continent {continent!r}; list_continents has the ids."
    context.one("SELECT continent_id FROM continents WHERE continent_id = ?", continent, otherwise=missing)
    columns, conditions = "country_id, name", {"continent_id = ?": continent}
    return paged(context, "countries", columns, "countries", conditions, order="name", arguments=arguments)


def get_currency(context: Context, arguments: Arguments) -> Row:
    currency = arguments["currency_id"]
    sql = "SELECT currency_id, code, name FROM currencies WHERE currency_id = ?"
    return context.one(sql, currency, otherwise=f"there is no currency {currency!r}; get_country gives ids.")


def list_currency_countries(context: Context, arguments: Arguments) -> Row:
    get_currency(context, arguments)
    sql = "SELECT country_id FROM countries WHERE currency_id = ? ORDER BY name"
    return {"country_ids": context.column(sql, arguments["currency_id"])}


COUNTRY_OPERATIONS = (
    Operation(
        id="search_countries",
        tag="countries",
        path="/countries",
        description=(
            "Find countries and territories by words of their English name or by ISO code (two or three letters). One "
            "of exactly this name comes first, then one of this code, then the others by name."
        ),
        parameters=(p.QUERY, p.LIMIT),
        returns="Places",
        handler=search_countries,
        links=(("/countries/0/country_id", COUNTRY_USES),),
    ),
    Operation(
        id="get_country",
        tag="countries",
        path="/countries/{country_id}",
        description="One country: ISO codes, continent, capital, currency, area, inhabitants and calling code.",
        parameters=(p.COUNTRY,),
        returns="Country",
        handler=get_country,
        missing="There is no country of this id.",
        links=(
            ("/capital_city_id", CITY_USES),
            ("/continent_id", (("list_continent_countries", "continent_id"),)),
            ("/currency_id", (("get_currency", "currency_id"), ("list_currency_countries", "currency_id"))),
        ),
    ),
    Operation(
        id="list_neighbours",
        tag="countries",
        path="/countries/{country_id}/neighbours",
        description="Ids of the countries that share a land border with one country, by their names.",
        parameters=(p.COUNTRY,),
        returns="CountryIds",
        handler=list_neighbours,
        missing="There is no country of this id.",
        links=(("/country_ids/0", COUNTRY_USES),),
    ),
    Operation(
        id="list_continents",
        tag="countries",
        path="/continents",
        description="The seven continents, by name.",
        returns="Continents",
        handler=list_continents,
        links=(("/continents/0/continent_id", (("list_continent_countries", "continent_id"),)),),
    ),
    Operation(
        id="list_continent_countries",
        tag="countries",
        path="/continents/{continent_id}/countries",
        description=(
            "The countries and territories of one continent, in pages by name. Central America and the Caribbean "
            "belong to North America; a country on two continents is counted to one."
        ),
        parameters=(p.CONTINENT, *p.PAGING),
        returns="CountryPage",
        handler=list_continent_countries,
        missing="There is no continent of this id.",
        links=(("/countries/0/country_id", COUNTRY_USES),),
    ),
    Operation(
        id="get_currency",
        tag="countries",
        path="/currencies/{currency_id}",
        description="One currency: its ISO code and the name of its unit.",
        parameters=(p.CURRENCY,),
        returns="Currency",
        handler=get_currency,
        missing="There is no currency of this id.",
    ),
    Operation(
        id="list_currency_countries",
        tag="countries",
        path="/currencies/{currency_id}/countries",
        description="Ids of the countries and territories that use one currency, by their names.",
        parameters=(p.CURRENCY,),
        returns="CountryIds",
        handler=list_currency_countries,
        missing="There is no currency of this id.",
        links=(("/country_ids/0", COUNTRY_USES),),
    ),
)
