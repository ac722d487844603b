"""Short tasks of one to four calls."""

from __future__ import annotations

from toolflow_bench.recipes.recipe import Case, Recipe

_COUNTRY_FACT = Recipe(
    id="country-fact",
    services=("places",),
    split="short",
    type="text",
    program="""
country = next(c for c in search_countries(query=$country) if c["name"] == $country)
print(get_country(country_id=country["country_id"])[$fact])
""",
    query="""
SELECT CASE $fact WHEN 'calling_code' THEN calling_code WHEN 'iso3' THEN iso3 ELSE iso2 END
FROM places.countries WHERE name = $country
""",
    cases=(
        Case("What is the international calling code of Mozambique?", country="Mozambique", fact="calling_code"),
        Case("Please give me the three-letter ISO country code for Cambodia.", country="Cambodia", fact="iso3"),
        Case(
            "I want to phone a friend in Uruguay; which digits stand for the country?",
            country="Uruguay",
            fact="calling_code",
        ),
        Case(
            "On a form I must enter Switzerland as an ISO code of two letters. Which?",
            country="Switzerland",
            fact="iso2",
        ),
    ),
)

_FIELD_HEIGHT = Recipe(
    id="airfield-height",
    services=("places",),
    split="short",
    type="number",
    program="""
airfield = search_airfields(query=$code, limit=1)[0]
print(get_airfield(airfield_id=airfield["airfield_id"])["elevation_ft"])
""",
    query="SELECT elevation_ft FROM places.airfields WHERE iata = $code",
    tolerance=0.5,
    cases=(
        Case("How many feet above the sea is the airport with the IATA code CUZ?", code="CUZ"),
        Case("Tell me the elevation of DEN in feet.", code="DEN"),
        Case("At what height, in ft, does the airfield lie that goes by the letters MEX?", code="MEX"),
        Case("Our simulator needs the elevation (feet) of the airport coded ADD. What is it?", code="ADD"),
    ),
)

_STORM_DATES = Recipe(
    id="storm-dates",
    services=("places",),
    split="short",
    type="text",
    program="""
storm = next(s for s in search_storms(query=$storm, season=$season) if s["name"] == $storm)
print(get_storm(storm_id=storm["storm_id"])["last_time"][:10])
""",
    query="""
SELECT substr(max(time), 1, 10) FROM places.observations JOIN places.storms USING (storm_id)
WHERE name = $storm AND season = $season
""",
    cases=(
        Case("On which date (YYYY-MM-DD) was Zeta of the 2005 season last observed?", storm="Zeta", season=2005),
        Case(
            "Nadine, 2012: what is the day of the final entry in its track? Use YYYY-MM-DD.",
            storm="Nadine",
            season=2012,
        ),
        Case(
            "When did the records of hurricane Ivan in 2004 end? The UTC date as YYYY-MM-DD, please.",
            storm="Ivan",
            season=2004,
        ),
    ),
)

_CAPITAL_ZONE = Recipe(
    id="capital-zone",
    services=("places",),
    split="short",
    type="text",
    program="""
country = next(c for c in search_countries(query=$country) if c["name"] == $country)
capital = get_city(city_id=get_country(country_id=country["country_id"])["capital_city_id"])
print(get_time_zone(time_zone_id=capital["time_zone_id"])["name"])
""",
    query="""
SELECT z.name FROM places.countries k JOIN places.cities c ON c.city_id = k.capital_city_id
    JOIN places.time_zones z USING (time_zone_id) WHERE k.name = $country
""",
    cases=(
        Case("In which IANA time zone does the capital of Mongolia lie?", country="Mongolia"),
        Case("Which tz database name should I set on my clock for Brazil's seat of government?", country="Brazil"),
        Case("Canada has many zones; give the one (IANA name) of its capital city.", country="Canada"),
        Case("What zone, by its tz name, is used where the government of Kazakhstan sits?", country="Kazakhstan"),
    ),
)

_CITY_DISTANCE = Recipe(
    id="city-distance",
    services=("places",),
    split="short",
    type="number",
    program="""
ids = [next(c for c in search_cities(query=name) if c["name"] == name)["city_id"] for name in ($one, $other)]
print(get_distance(from_place_id=ids[0], to_place_id=ids[1]))
""",
    query="""
WITH one AS (SELECT latitude, longitude FROM places.cities WHERE name = $one ORDER BY population DESC LIMIT 1),
other AS (SELECT latitude, longitude FROM places.cities WHERE name = $other ORDER BY population DESC LIMIT 1)
SELECT round(km(one.latitude, one.longitude, other.latitude, other.longitude), 1) FROM one, other
""",
    tolerance=0.1,
    cases=(
        Case(
            "How far is it from Lisbon to Helsinki as the crow flies, in km with one decimal?",
            one="Lisbon",
            other="Helsinki",
        ),
        Case(
            "Great-circle kilometres between the cities of Nairobi and Mumbai, to a tenth, please.",
            one="Nairobi",
            other="Mumbai",
        ),
        Case(
            "Osaka, then Brisbane: what distance separates the two (kilometres, one decimal)?",
            one="Osaka",
            other="Brisbane",
        ),
        Case(
            "We fly a balloon straight from Reykjavík to Oslo. Give the length of the way in km, rounded to one place.",
            one="Reykjavík",
            other="Oslo",
        ),
    ),
)

_LAST_PRESSURE = Recipe(
    id="last-pressure",
    services=("places",),
    split="short",
    type="number",
    program="""
storm = next(s for s in search_storms(query=$storm, season=$season) if s["name"] == $storm)
last = get_storm(storm_id=storm["storm_id"])["last_observation_id"]
print(get_observation(observation_id=last)["pressure_hpa"])
""",
    query="""
SELECT pressure_hpa FROM places.observations JOIN places.storms USING (storm_id)
WHERE name = $storm AND season = $season ORDER BY time DESC LIMIT 1
""",
    tolerance=0.5,
    cases=(
        Case(
            "What was the central pressure, in hPa, at the last observation of Sandy in 2012?",
            storm="Sandy",
            season=2012,
        ),
        Case(
            "How many hectopascals were left in the eye of Hugo, 1989, when its track ended?", storm="Hugo", season=1989
        ),
        Case(
            "Take the final reading of the storm called Dorian (2019 season) and tell me its air pressure in hPa.",
            storm="Dorian",
            season=2019,
        ),
    ),
)

RECIPES = (
    _COUNTRY_FACT,
    _FIELD_HEIGHT,
    _STORM_DATES,
    _CAPITAL_ZONE,
    _CITY_DISTANCE,
    _LAST_PRESSURE,
)
