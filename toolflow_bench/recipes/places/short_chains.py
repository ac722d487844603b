"""Short tasks of five or six calls."""

from __future__ import annotations

from toolflow_bench.recipes.recipe import Case, Recipe

_PEAK_CITY = Recipe(
    id="peak-city",
    services=("places",),
    split="short",
    type="text",
    program="""
storm = next(s for s in search_storms(query=$storm, season=$season) if s["name"] == $storm)
track = list_storm_track(storm_id=storm["storm_id"], page_size=100)["observations"]
peak = get_observation(observation_id=max(track, key=lambda point: point["wind_kt"])["observation_id"])
near = list_cities_near(
    latitude=peak["latitude"], longitude=peak["longitude"], radius_km=300, min_population=100000, page_size=1
)
print(get_city(city_id=near["cities"][0]["city_id"])["name"])
""",
    query="""
WITH peak AS (
    SELECT o.latitude, o.longitude FROM places.observations o JOIN places.storms s USING (storm_id)
    WHERE s.name = $storm AND s.season = $season ORDER BY o.wind_kt DESC, o.time LIMIT 1)
SELECT c.name FROM places.cities c, peak WHERE c.population >= 100000
ORDER BY km(c.latitude, c.longitude, peak.latitude, peak.longitude) LIMIT 1
""",
    cases=(
        Case(
            "Which city of at least 100,000 people was nearest to Dennis of 2005 when it first had its highest wind?",
            storm="Dennis",
            season=2005,
        ),
        Case(
            "At the earliest reading of the top wind of storm Ernesto, 2012, what was the closest town with 100,000 "
            "inhabitants or more?",
            storm="Ernesto",
            season=2012,
        ),
        Case(
            "Name the place with a population not below 100,000 that lay the least distance from the centre of "
            "hurricane Diana (1990) as its strongest wind was observed for the first time.",
            storm="Diana",
            season=1990,
        ),
        Case(
            "Karl in the season of 2010 blew hardest somewhere over the Gulf: find that first moment, and the big city "
            "(100,000+) next to it.",
            storm="Karl",
            season=2010,
        ),
    ),
)

_FIELD_TO_CAPITAL = Recipe(
    id="airfield-to-capital",
    services=("places",),
    split="short",
    type="list",
    program="""
import json

airfield = get_airfield(airfield_id=search_airfields(query=$code, limit=1)[0]["airfield_id"])
country = get_country(country_id=airfield["country_id"])
capital = get_city(city_id=country["capital_city_id"])
distance = get_distance(from_place_id=airfield["airfield_id"], to_place_id=capital["city_id"])
print(json.dumps([capital["name"], distance]))
""",
    query="""
WITH pair AS (
    SELECT c.name, km(a.latitude, a.longitude, c.latitude, c.longitude) AS distance
    FROM places.airfields a JOIN places.countries k USING (country_id)
        JOIN places.cities c ON c.city_id = k.capital_city_id
    WHERE a.iata = $code)
SELECT name FROM pair UNION ALL SELECT round(distance, 1) FROM pair
""",
    tolerance=0.1,
    cases=(
        Case(
            "What is the capital of the country that the airport CNX lies in, and how many kilometres (one decimal) "
            "are they apart?",
            code="CNX",
        ),
        Case(
            "From the airfield coded AGP, how far is it to the capital of its own country? Name the capital, then km "
            "to a tenth.",
            code="AGP",
        ),
        Case(
            "MBA is an IATA code. Find the country it is in, the capital of that country, and the distance between "
            "airport and capital in kilometres with one decimal; answer with the last two.",
            code="MBA",
        ),
        Case(
            "Travellers land at CTG and go on to the capital of that country: which city is it, and how long is "
            "the way in a straight line (km, rounded to 0.1)?",
            code="CTG",
        ),
    ),
)

_CITY_FIELD_ZONE = Recipe(
    id="city-airfield",
    services=("places",),
    split="short",
    type="list",
    program="""
import json

country = next(c for c in search_countries(query=$country) if c["name"] == $country)
found = search_cities(query=$city, country_id=country["country_id"])
city = get_city(city_id=next(c["city_id"] for c in found if c["name"] == $city))
near = list_airfields_near(
    latitude=city["latitude"], longitude=city["longitude"], radius_km=200, codes="iata", page_size=1
)
airfield = get_airfield(airfield_id=near["airfields"][0]["airfield_id"])
print(json.dumps([airfield["iata"], airfield["elevation_ft"]]))
""",
    query="""
WITH field AS (
    SELECT a.iata, a.elevation_ft FROM places.cities c JOIN places.countries k USING (country_id), places.airfields a
    WHERE c.name = $city AND k.name = $country AND a.iata IS NOT NULL
    ORDER BY km(a.latitude, a.longitude, c.latitude, c.longitude) LIMIT 1)
SELECT iata FROM field UNION ALL SELECT elevation_ft FROM field
""",
    cases=(
        Case(
            "Which airfield with an IATA code is nearest to Cuenca in Ecuador? Its code and its elevation in feet.",
            country="Ecuador",
            city="Cuenca",
        ),
        Case(
            "Code (IATA) and height in feet of the coded airport that is the least distance from Grenoble, France, "
            "please.",
            country="France",
            city="Grenoble",
        ),
        Case(
            "A delegation goes to Jinja, Uganda. Tell me the three letters of the closest IATA-coded field, then how "
            "many ft it lies above sea level.",
            country="Uganda",
            city="Jinja",
        ),
    ),
)

RECIPES = (
    _PEAK_CITY,
    _FIELD_TO_CAPITAL,
    _CITY_FIELD_ZONE,
)
