"""Long tasks that look for storms by season, by day or near a place."""

from __future__ import annotations

from toolflow_bench.recipes.recipe import Case, Recipe

_LONGEST_OF_SEASON = Recipe(
    id="longest-of-season",
    services=("places",),
    split="long",
    type="list",
    program="""
import json
from datetime import datetime

def lifetime(storm):
    return datetime.fromisoformat(storm["last_time"]) - datetime.fromisoformat(storm["first_time"])

storms = [get_storm(storm_id=storm["storm_id"]) for storm in list_season_storms(season=$season)]
longest = max(storms, key=lifetime)
country = search_countries(query=$country)[0]["country_id"]
city = next(c for c in search_cities(query=$city, country_id=country) if c["name"] == $city)
distance = get_distance(from_place_id=longest["first_observation_id"], to_place_id=city["city_id"])
print(json.dumps([longest["name"], distance]))
""",
    query="""
WITH lives AS (
    SELECT s.name, min(o.time) AS born, max(o.time) AS died, storm_id FROM places.storms s
    JOIN places.observations o USING (storm_id) WHERE s.season = $season GROUP BY storm_id),
longest AS (SELECT * FROM lives ORDER BY julianday(died) - julianday(born) DESC LIMIT 1),
start AS (SELECT latitude, longitude FROM places.observations o JOIN longest USING (storm_id) WHERE o.time = born)
SELECT name FROM longest
UNION ALL
SELECT round(km(start.latitude, start.longitude, c.latitude, c.longitude), 1)
FROM start, places.cities c JOIN places.countries k USING (country_id) WHERE c.name = $city AND k.name = $country
""",
    tolerance=0.1,
    cases=(
        Case(
            "Which storm of the 1986 Atlantic season lasted longest from its first to its last observation, and how "
            "many kilometres from Nassau in the Bahamas was it first seen? Name and distance to one decimal.",
            season=1986,
            city="Nassau",
            country="Bahamas",
        ),
        Case(
            "I am writing on long-lived storms. For the season of 1987 I want the one with the greatest time between "
            "first and last entry of its track; tell me its name, then how far (km, one decimal place) that first "
            "entry is from Havana, Cuba.",
            season=1987,
            city="Havana",
            country="Cuba",
        ),
        Case(
            "Name the storm with the longest observed life among those of 2009. After the name give the great-circle "
            "distance between Dakar, Senegal, and the point where it appeared, in kilometres with one decimal.",
            season=2009,
            city="Dakar",
            country="Senegal",
        ),
    ),
)

_DEEPEST_OF_DAY = Recipe(
    id="deepest-of-day",
    services=("places",),
    split="long",
    type="list",
    program="""
import json

seen = {}
for storm in list_active_storms(date=$day):
    track = list_storm_track(storm_id=storm, page_size=100)["observations"]
    noon = next(point for point in track if point["time"] == $day + "T12:00")
    seen[storm] = get_observation(observation_id=noon["observation_id"])
deepest = min(seen, key=lambda storm: seen[storm]["pressure_hpa"])
print(json.dumps([get_storm(storm_id=deepest)["name"], seen[deepest]["pressure_hpa"]]))
""",
    query="""
WITH deepest AS (
    SELECT s.name, o.pressure_hpa FROM places.observations o JOIN places.storms s USING (storm_id)
    WHERE o.time = $day || 'T12:00' ORDER BY o.pressure_hpa LIMIT 1)
SELECT name FROM deepest UNION ALL SELECT pressure_hpa FROM deepest
""",
    cases=(
        Case(
            "Several Atlantic storms were about on 2020-09-14. Which one had the lowest central pressure at 12:00 UTC "
            "that day, and what was it in hPa?",
            day="2020-09-14",
        ),
        Case(
            "Give me name and pressure in hectopascals of the deepest storm among all those being tracked on "
            "2004-09-21, judged by the noon (UTC) observations.",
            day="2004-09-21",
        ),
        Case(
            "For an exhibit about the busiest days of all: take every storm observed on 2020-09-17, compare their 12 "
            "UTC readings, and report which had the least air pressure and how many hPa it was.",
            day="2020-09-17",
        ),
    ),
)

_STRONGEST_NEAR_FIELD = Recipe(
    id="strongest-near-airfield",
    services=("places",),
    split="long",
    type="list",
    program="""
import json

airfield = get_airfield(airfield_id=search_airfields(query=$code, limit=1)[0]["airfield_id"])
passages = list_storms_near(
    latitude=airfield["latitude"], longitude=airfield["longitude"], radius_km=$radius,
    first_season=$first, last_season=$last, page_size=100,
)["storms"]
readings = [get_observation(observation_id=passage["observation_id"]) for passage in passages]
strongest = get_storm(storm_id=max(readings, key=lambda reading: reading["wind_kt"])["storm_id"])
print(json.dumps([strongest["name"], strongest["season"]]))
""",
    query="""
WITH ranked AS (
    SELECT s.name, s.season, o.wind_kt, km(o.latitude, o.longitude, a.latitude, a.longitude) AS distance,
        row_number() OVER (
            PARTITION BY o.storm_id ORDER BY km(o.latitude, o.longitude, a.latitude, a.longitude)) AS place
    FROM places.airfields a, places.observations o JOIN places.storms s USING (storm_id)
    WHERE a.iata = $code AND s.season BETWEEN $first AND $last),
strongest AS (SELECT * FROM ranked WHERE place = 1 AND distance <= $radius ORDER BY wind_kt DESC LIMIT 1)
SELECT name FROM strongest UNION ALL SELECT season FROM strongest
""",
    cases=(
        Case(
            "From 2000 to 2022, which storms were observed within 100 km of Tampa's airport (TPA)? Of each take the "
            "observation nearest to the airport; I want the name and the season of the storm with the most wind then.",
            code="TPA",
            radius=100,
            first=2000,
            last=2022,
        ),
        Case(
            "The people at Halifax airport, code YHZ, ask which storm was the windiest at its closest observation "
            "among all that came within 100 kilometres of them in the seasons 1990 through 2022. Name it, with year.",
            code="YHZ",
            radius=100,
            first=1990,
            last=2022,
        ),
        Case(
            "Look at the airport with the code PDL in the Azores. Considering the seasons 2000-2022 and storms with an "
            "observation at most 200 km away, whose nearest observation shows the highest sustained wind? Answer: "
            "name, season.",
            code="PDL",
            radius=200,
            first=2000,
            last=2022,
        ),
    ),
)

_WESTERNMOST_VISIT = Recipe(
    id="outermost-city-visit",
    services=("places",),
    split="long",
    type="list",
    program="""
import json

country = next(c for c in search_countries(query=$country) if c["name"] == $country)
listed = list_country_cities(country_id=country["country_id"], min_population=$people, page_size=100)["cities"]
west = min((get_city(city_id=city["city_id"]) for city in listed), key=lambda city: city["longitude"])
nearest = list_storms_near(
    latitude=west["latitude"], longitude=west["longitude"], radius_km=300,
    first_season=$first, last_season=$last, page_size=1,
)["storms"][0]
storm = get_storm(storm_id=nearest["storm_id"])
print(json.dumps([west["name"], storm["name"], storm["season"]]))
""",
    query="""
WITH west AS (
    SELECT c.name, latitude, longitude FROM places.cities c JOIN places.countries k USING (country_id)
    WHERE k.name = $country AND c.population >= $people ORDER BY longitude LIMIT 1),
visit AS (
    SELECT s.name, s.season FROM west, places.observations o JOIN places.storms s USING (storm_id)
    WHERE s.season BETWEEN $first AND $last
    ORDER BY km(o.latitude, o.longitude, west.latitude, west.longitude) LIMIT 1)
SELECT name FROM west UNION ALL SELECT name FROM visit UNION ALL SELECT season FROM visit
""",
    cases=(
        Case(
            "Which is the westernmost of Cuba's cities with at least 150,000 inhabitants, and which storm of the "
            "seasons 1990 to 2022 was observed closest to it? City, storm, season.",
            country="Cuba",
            people=150_000,
            first=1990,
            last=2022,
        ),
        Case(
            "Take all towns in the Dominican Republic that have 100,000 residents or more and find the one farthest "
            "west. Then look through 1975-2022 for the storm that has an observation nearest to that town. I would "
            "like the town's name, the storm's name and its year.",
            country="Dominican Republic",
            people=100_000,
            first=1975,
            last=2022,
        ),
        Case(
            "Honduras again: start with its places of no fewer than 50,000 people, choose the most western one, and "
            "say which named storm of any season between 2000 and 2022 passed it at the shortest distance by the "
            "recorded positions. Three items: place, storm, season.",
            country="Honduras",
            people=50_000,
            first=2000,
            last=2022,
        ),
    ),
)

_LATE_NEAR_CITY = """
from datetime import datetime

country = next(c for c in search_countries(query=$country) if c["name"] == $country)
found = search_cities(query=$city, country_id=country["country_id"])
city = get_city(city_id=next(c["city_id"] for c in found if c["name"] == $city))
passages = list_storms_near(
    latitude=city["latitude"], longitude=city["longitude"], radius_km=$radius,
    first_season=$first, last_season=$last, page_size=100,
)["storms"]
visits = []
for passage in passages:
    reading = get_observation(observation_id=passage["observation_id"])
    moment = datetime.fromisoformat(reading["time"])
    visits.append((moment.month, moment.day, moment.hour, reading["storm_id"]))
latest = max(visits)
print(get_storm(storm_id=latest[3])["name"] if latest[0] >= $month else "no such storm")
"""
_LATE_NEAR_CITY_QUERY = """
WITH ranked AS (
    SELECT s.name, o.time, km(o.latitude, o.longitude, c.latitude, c.longitude) AS distance,
        row_number() OVER (
            PARTITION BY o.storm_id ORDER BY km(o.latitude, o.longitude, c.latitude, c.longitude)) AS place
    FROM places.cities c JOIN places.countries k USING (country_id), places.observations o
    JOIN places.storms s USING (storm_id)
    WHERE c.name = $city AND k.name = $country AND s.season BETWEEN $first AND $last)
SELECT name FROM ranked WHERE place = 1 AND distance <= $radius AND CAST(substr(time, 6, 2) AS INTEGER) >= $month
ORDER BY substr(time, 6) DESC LIMIT 1
"""

_LATE = Recipe(
    id="late-near-city",
    services=("places",),
    split="long",
    type="text",
    program=_LATE_NEAR_CITY,
    query=_LATE_NEAR_CITY_QUERY,
    cases=(
        Case(
            "Take all storms of 1990-2022 that were observed within 150 km of Kingston, Jamaica, each by its nearest "
            "observation. Which of them came latest in the calendar, provided that this was in December? Say none if "
            "no storm came so late.",
            city="Kingston",
            country="Jamaica",
            radius=150,
            first=1990,
            last=2022,
            month=12,
        ),
        Case(
            "Havana (Cuba) wonders how late in a year a storm can be at its door. Going by the closest recorded "
            "position of every storm between the seasons of 1985 and 2022 that lies at most 120 kilometres away, name "
            "the last by day and month, whatever the year; if it was before November, answer none.",
            city="Havana",
            country="Cuba",
            radius=120,
            first=1985,
            last=2022,
            month=11,
        ),
    ),
)

_LATE_NONE = Recipe(
    id="late-near-city-none",
    services=("places",),
    split="long",
    type="none",
    program=_LATE_NEAR_CITY,
    query=_LATE_NEAR_CITY_QUERY,
    cases=(
        Case(
            "Has Bridgetown in Barbados ever had a storm in November or later? Use storms of the seasons 1990 to 2022 "
            "with an observation no more than 150 km from the city, dated by the observation that was nearest; give "
            "the name of the one latest in the year, or none.",
            city="Bridgetown",
            country="Barbados",
            radius=150,
            first=1990,
            last=2022,
            month=11,
        ),
        Case(
            "A sailing club at Ponta Delgada, Portugal, is closed from the start of November. Name the storm, out of "
            "those from 1985 through 2022 that got inside 250 km of town, whose nearest recorded point falls latest "
            "within its year during that closed time until 31 December. If the club never missed one, write none.",
            city="Ponta Delgada",
            country="Portugal",
            radius=250,
            first=1985,
            last=2022,
            month=11,
        ),
    ),
)

RECIPES = (_LONGEST_OF_SEASON, _DEEPEST_OF_DAY, _STRONGEST_NEAR_FIELD, _WESTERNMOST_VISIT, _LATE, _LATE_NONE)
