"""Long tasks that go through the cities, time zones or airfields of a state or a country."""

from __future__ import annotations

from toolflow_bench.recipes.recipe import Case, Recipe

_LOWEST_FIELD_PROGRAM = """
state = next(s["state_id"] for s in list_us_states() if s["name"] == $state)
fields = []
for listed in list_state_cities(state_id=state, min_population=$people, page_size=100)["cities"]:
    city = get_city(city_id=listed["city_id"])
    near = list_airfields_near(
        latitude=city["latitude"], longitude=city["longitude"], radius_km=300, codes="iata", page_size=1
    )
    fields.append(get_airfield(airfield_id=near["airfields"][0]["airfield_id"]))
lowest = min(fields, key=lambda field: field["elevation_ft"])
print(lowest["iata"] if lowest["elevation_ft"] <= $feet else "no such airfield")
"""
_LOWEST_FIELD_QUERY = """
WITH near AS (
    SELECT a.iata, a.elevation_ft, row_number() OVER (
        PARTITION BY c.city_id ORDER BY km(a.latitude, a.longitude, c.latitude, c.longitude)) AS place
    FROM places.us_states s JOIN places.cities c USING (state_id)
    JOIN places.airfields a ON a.iata IS NOT NULL AND abs(a.latitude - c.latitude) < 2.7
    WHERE s.name = $state AND c.population >= $people)
SELECT iata FROM near WHERE place = 1 AND elevation_ft <= $feet ORDER BY elevation_ft LIMIT 1
"""

_LOWEST_FIELD = Recipe(
    id="lowest-airfield",
    services=("places",),
    split="long",
    type="text",
    program=_LOWEST_FIELD_PROGRAM,
    query=_LOWEST_FIELD_QUERY,
    cases=(
        Case(
            "For each city of Arizona with at least 200,000 people, find the nearest airfield that has an IATA code. "
            "Which of these airfields is the lowest above the sea, if it is at 1200 feet or less? Give its IATA code, "
            "or none if all are higher.",
            state="Arizona",
            people=200_000,
            feet=1200,
        ),
        Case(
            "Thin air is bad for our old plane. Nevada's bigger towns (80,000 inhabitants and up) all have some "
            "closest IATA-coded field; tell me the three-letter code of the one with the least elevation as long as "
            "that is not more than 2300 ft, else none.",
            state="Nevada",
            people=80_000,
            feet=2300,
        ),
    ),
)

_LOWEST_FIELD_NONE = Recipe(
    id="lowest-airfield-none",
    services=("places",),
    split="long",
    type="none",
    program=_LOWEST_FIELD_PROGRAM,
    query=_LOWEST_FIELD_QUERY,
    cases=(
        Case(
            "In Colorado, where cities of 100,000 or more are concerned, is the airport closest to any of them, among "
            "airports with IATA codes, situated no higher than 4500 feet? Report the code of the lowest such airport; "
            "report none where there isn't one.",
            state="Colorado",
            people=100_000,
            feet=4500,
        ),
        Case(
            "Utah, places above or equal to 90,000 residents: look up the elevation of the IATA airfield next to each "
            "one. I need the code of the field nearest to sea level, on the condition that it lies at most 4000 feet "
            "up. Write none when the condition fails.",
            state="Utah",
            people=90_000,
            feet=4000,
        ),
    ),
)

_HIGHEST_FIELD = Recipe(
    id="highest-airfield-city",
    services=("places",),
    split="long",
    type="list",
    program="""
import json

country = next(c for c in search_countries(query=$country) if c["name"] == $country)
listed = list_country_airfields(
    country_id=country["country_id"], codes="iata", min_elevation_ft=$feet, page_size=100
)["airfields"]
fields = [get_airfield(airfield_id=field["airfield_id"]) for field in listed]
highest = max(fields, key=lambda field: field["elevation_ft"])
near = list_cities_near(
    latitude=highest["latitude"], longitude=highest["longitude"], radius_km=300, min_population=$people, page_size=1
)
city = get_city(city_id=near["cities"][0]["city_id"])
print(json.dumps([highest["iata"], city["name"]]))
""",
    query="""
WITH highest AS (
    SELECT a.iata, latitude, longitude FROM places.airfields a JOIN places.countries k USING (country_id)
    WHERE k.name = $country AND a.iata IS NOT NULL ORDER BY elevation_ft DESC LIMIT 1),
city AS (
    SELECT c.name FROM places.cities c, highest h WHERE c.population >= $people
    ORDER BY km(c.latitude, c.longitude, h.latitude, h.longitude) LIMIT 1)
SELECT iata FROM highest UNION ALL SELECT name FROM city
""",
    cases=(
        Case(
            "Which is the highest airfield of Bolivia that has an IATA code (look at 8,000 feet or more), and which "
            "city of at least 50,000 people is nearest to it? IATA code and city.",
            country="Bolivia",
            feet=8000,
            people=50_000,
        ),
        Case(
            "Our pilots train at altitude in Peru. Look only at fields with an IATA code and an elevation from 9000 ft "
            "upwards; name the code of the top one, then the closest town with no fewer than 30,000 inhabitants.",
            country="Peru",
            feet=9000,
            people=30_000,
        ),
        Case(
            "Tell me, for Ethiopia, the three-letter code of the loftiest airport among those at 6500 feet or more "
            "that carry IATA codes. Add the name of whichever city of 100,000+ residents is least far away.",
            country="Ethiopia",
            feet=6500,
            people=100_000,
        ),
    ),
)

_NORTHERNMOST_VISIT = Recipe(
    id="northernmost-of-state",
    services=("places",),
    split="long",
    type="list",
    program="""
import json

state = next(s["state_id"] for s in list_us_states() if s["name"] == $state)
listed = list_state_cities(state_id=state, min_population=$people, page_size=100)["cities"]
north = max((get_city(city_id=city["city_id"]) for city in listed), key=lambda city: city["latitude"])
nearest = list_storms_near(
    latitude=north["latitude"], longitude=north["longitude"], radius_km=300,
    first_season=$first, last_season=$last, page_size=1,
)["storms"][0]
storm = get_storm(storm_id=nearest["storm_id"])
print(json.dumps([north["name"], storm["name"], storm["season"]]))
""",
    query="""
WITH north AS (
    SELECT c.* FROM places.cities c JOIN places.us_states s USING (state_id)
    WHERE s.name = $state AND c.population >= $people ORDER BY c.latitude DESC LIMIT 1),
visit AS (
    SELECT s.name, s.season FROM north n, places.observations o JOIN places.storms s USING (storm_id)
    WHERE s.season BETWEEN $first AND $last ORDER BY km(o.latitude, o.longitude, n.latitude, n.longitude) LIMIT 1)
SELECT name FROM north UNION ALL SELECT name FROM visit UNION ALL SELECT season FROM visit
""",
    cases=(
        Case(
            "What is the northernmost city of 80,000 people or more in South Carolina, and which storm of "
            "2000-2022 was observed nearest to it? City, storm and season, please.",
            state="South Carolina",
            people=80_000,
            first=2000,
            last=2022,
        ),
        Case(
            "Louisiana: pick its city of 100,000 inhabitants or more that lies farthest north. Next, among storms in "
            "the seasons from 1980 to 2022, find whichever has a recorded position closest to that city. I need the "
            "city's name, the storm's name, the year.",
            state="Louisiana",
            people=100_000,
            first=1980,
            last=2022,
        ),
        Case(
            "Between the 1995 season and that of 2022, what storm came closest, by its observations, to the most "
            "northerly place in Alabama having a population of at least 60,000? Start the answer with this place and "
            "end with the storm's season.",
            state="Alabama",
            people=60_000,
            first=1995,
            last=2022,
        ),
    ),
)

_SOUTHERNMOST_OF_ZONE = Recipe(
    id="southernmost-of-zone",
    services=("places",),
    split="long",
    type="list",
    program="""
import json

country = next(c for c in search_countries(query=$country) if c["name"] == $country)
pages = {}
for zone in list_country_time_zones(country_id=country["country_id"]):
    pages[zone["name"]] = list_cities_in_time_zone(
        time_zone_id=zone["time_zone_id"], min_population=$people, page_size=100
    )
fullest = max(pages, key=lambda name: pages[name]["total"])
cities = [get_city(city_id=city["city_id"]) for city in pages[fullest]["cities"]]
print(json.dumps([fullest, min(cities, key=lambda city: city["latitude"])["name"]]))
""",
    query="""
WITH fullest AS (
    SELECT z.time_zone_id, z.name FROM places.cities c JOIN places.time_zones z USING (time_zone_id)
    WHERE c.population >= $people AND z.time_zone_id IN (
        SELECT DISTINCT d.time_zone_id FROM places.cities d JOIN places.countries k USING (country_id)
        WHERE k.name = $country)
    GROUP BY z.time_zone_id ORDER BY count(*) DESC LIMIT 1),
south AS (
    SELECT c.name FROM places.cities c JOIN fullest USING (time_zone_id)
    WHERE c.population >= $people ORDER BY c.latitude LIMIT 1)
SELECT name FROM fullest UNION ALL SELECT name FROM south
""",
    cases=(
        Case(
            "Which time zone of Australia has the most cities of 100,000 inhabitants or more, and which of those "
            "cities lies farthest south? IANA name of the zone first.",
            country="Australia",
            people=100_000,
        ),
        Case(
            "Sort Canada's zones by how many towns with a population of at least 150,000 they hold. Give the tz name "
            "of the fullest, and the southernmost such town in it.",
            country="Canada",
            people=150_000,
        ),
        Case(
            "We will open one office for Kazakhstan, in the IANA zone where the greatest number of 80,000-plus cities "
            "(80000 people counts) is found. State that zone and its city nearest to the equator.",
            country="Kazakhstan",
            people=80_000,
        ),
    ),
)

RECIPES = (
    _LOWEST_FIELD,
    _LOWEST_FIELD_NONE,
    _HIGHEST_FIELD,
    _NORTHERNMOST_VISIT,
    _SOUTHERNMOST_OF_ZONE,
)
