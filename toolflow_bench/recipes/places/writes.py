"""Long tasks that write: trip plans, storm alerts, notices and error reports."""

from __future__ import annotations

from toolflow_bench.recipes.recipe import Case, Recipe

_ALERT_BY_AREA = Recipe(
    id="alert-by-area",
    services=("places",),
    split="long",
    type="state",
    program="""
areas = {}
alerts = list_storm_alerts()
for alert in alerts:
    country = get_country(country_id=get_city(city_id=alert["city_id"])["country_id"])
    areas[alert["alert_id"]] = country["area_km2"]
ranked = sorted(alerts, key=lambda alert: areas[alert["alert_id"]])
update_storm_alert(alert_id=ranked[$rank - 1]["alert_id"], radius_km=$radius)
print("done")
""",
    query="""
SELECT json_object('places', json_object('storm_alerts', json_array(
    json_object('city_id', city_id, 'radius_km', $radius, 'min_wind_kt', min_wind_kt))))
FROM places.standing_alerts JOIN places.cities USING (city_id) JOIN places.countries k USING (country_id)
ORDER BY k.area_km2 LIMIT 1 OFFSET $rank - 1
""",
    cases=(
        Case(
            "Sorting the cities we have storm alerts on by the area of their countries, from small to large, please "
            "change the alert at place 2 so that it covers 175 kilometres around the city.",
            rank=2,
            radius=175,
        ),
    ),
)

_ALERT_BY_VISITS = Recipe(
    id="alert-by-visits",
    services=("places",),
    split="long",
    type="state",
    program="""
visits = {}
for alert in list_storm_alerts():
    city = get_city(city_id=alert["city_id"])
    visits[alert["alert_id"]] = list_storms_near(
        latitude=city["latitude"], longitude=city["longitude"], radius_km=$radius,
        first_season=$first, last_season=$last, page_size=1,
    )["total"]
update_storm_alert(alert_id=max(visits, key=visits.get), min_wind_kt=$wind)
print("done")
""",
    query="""
SELECT json_object('places', json_object('storm_alerts', json_array(
    json_object('city_id', a.city_id, 'radius_km', a.radius_km, 'min_wind_kt', $wind))))
FROM places.standing_alerts a JOIN places.cities c USING (city_id), places.observations o
    JOIN places.storms s USING (storm_id)
WHERE s.season BETWEEN $first AND $last AND km(c.latitude, c.longitude, o.latitude, o.longitude) <= $radius
GROUP BY a.city_id ORDER BY count(DISTINCT s.storm_id) DESC LIMIT 1
""",
    cases=(
        Case(
            "Which city among our storm alerts had the most storms observed within 100 km in the seasons 2000 to 2022? "
            "Raise the least wind of its alert to 70 knots.",
            radius=100,
            first=2000,
            last=2022,
            wind=70,
        ),
        Case(
            "One of the places we hold an alert for was visited by more storms than any other from 1975 through 1999, "
            "if a visit is an observation at a distance of 200 kilometres or less. Its least wind should be 45 kt now.",
            radius=200,
            first=1975,
            last=1999,
            wind=45,
        ),
    ),
)

_ALERTS_FOR_NEIGHBOURS = Recipe(
    id="alerts-for-neighbours",
    services=("places",),
    split="long",
    type="state",
    program="""
country = next(c for c in search_countries(query=$country) if c["name"] == $country)
for neighbour in list_neighbours(country_id=country["country_id"]):
    capital = get_country(country_id=neighbour)["capital_city_id"]
    create_storm_alert(city_id=capital, radius_km=$radius, min_wind_kt=$wind)
print("done")
""",
    query="""
SELECT json_object('places', json_object('storm_alerts', json_group_array(
    json_object('city_id', b.capital_city_id, 'radius_km', $radius, 'min_wind_kt', $wind))))
FROM places.countries a JOIN places.neighbours n ON n.country_id = a.country_id
    JOIN places.countries b ON b.country_id = n.neighbour_id WHERE a.name = $country
""",
    cases=(
        Case(
            "Set up a storm alert for the capital of every country that borders Honduras: 200 km around it, from 64 "
            "knots of wind.",
            country="Honduras",
            radius=200,
            wind=64,
        ),
        Case(
            "We have family in all of Guatemala's neighbouring countries, in the capitals. For each such capital "
            "create an alert with a radius of 150 kilometres and a wind of at least 50 kt.",
            country="Guatemala",
            radius=150,
            wind=50,
        ),
        Case(
            "Let me know when a storm with 34 knots or more comes nearer than 400 km to a seat of government right "
            "across the land border from Mexico. One alert a capital, please.",
            country="Mexico",
            radius=400,
            wind=34,
        ),
    ),
)

_CAPITALS_TRIP = Recipe(
    id="capitals-trip",
    services=("places",),
    split="long",
    type="state",
    program="""
country = next(c for c in search_countries(query=$country) if c["name"] == $country)
found = search_cities(query=$start, country_id=country["country_id"])
start = next(c for c in found if c["name"] == $start)
plan = create_trip_plan(start_city_id=start["city_id"], start_date=$day, travellers=$travellers)
for neighbour in list_neighbours(country_id=country["country_id"]):
    capital = get_country(country_id=neighbour)["capital_city_id"]
    add_trip_stop(plan_id=plan["plan_id"], city_id=capital, nights=$nights)
print("done")
""",
    query="""
SELECT json_object('places', json_object('trip_plans', json_array(json_object(
    'start_city_id', (SELECT city_id FROM places.cities c WHERE c.country_id = a.country_id AND c.name = $start),
    'start_date', $day, 'travellers', $travellers,
    'stops', (SELECT json_group_array(json_object('city_id', capital_city_id, 'nights', $nights)) FROM (
        SELECT b.capital_city_id FROM places.neighbours n JOIN places.countries b ON b.country_id = n.neighbour_id
        WHERE n.country_id = a.country_id ORDER BY b.name))))))
FROM places.countries a WHERE a.name = $country
""",
    cases=(
        Case(
            "Plan a trip for 3 people that starts in Maribor, Slovenia, on 2025-05-02 and then stops for 2 nights in "
            "the capital of each country that borders Slovenia, in alphabetical order of the countries.",
            country="Slovenia",
            start="Maribor",
            day="2025-05-02",
            travellers=3,
            nights=2,
        ),
        Case(
            "My choir of 24 sets out from Lausanne (Switzerland), departure 2025-09-14. We sing in every capital of a "
            "neighbouring country; go by the English country names from A to Z, three nights (3) a stop. Draw up the "
            "plan.",
            country="Switzerland",
            start="Lausanne",
            day="2025-09-14",
            travellers=24,
            nights=3,
        ),
        Case(
            "Create an itinerary: start date 2026-01-10, starting point Encarnación in Paraguay, 5 travellers; as "
            "stops add all capitals just across Paraguay's borders, alphabetically by country, with 4 nights each.",
            country="Paraguay",
            start="Encarnación",
            day="2026-01-10",
            travellers=5,
            nights=4,
        ),
    ),
)

_NOTICES_AT_PEAK = Recipe(
    id="notices-at-peak",
    services=("places",),
    split="long",
    type="state",
    program="""
storm = next(s for s in search_storms(query=$storm, season=$season) if s["name"] == $storm)
track = list_storm_track(storm_id=storm["storm_id"], page_size=100)["observations"]
peak = max(track, key=lambda point: point["wind_kt"])["observation_id"]
centre = get_observation(observation_id=peak)
near = list_cities_near(
    latitude=centre["latitude"], longitude=centre["longitude"], radius_km=$radius, min_population=$people, page_size=100
)
for city in near["cities"]:
    create_city_notice(city_id=city["city_id"], observation_id=peak, level=$level)
print("done")
""",
    query="""
WITH peak AS (
    SELECT o.observation_id, o.latitude, o.longitude FROM places.observations o JOIN places.storms s USING (storm_id)
    WHERE s.name = $storm AND s.season = $season ORDER BY o.wind_kt DESC, o.time LIMIT 1)
SELECT json_object('places', json_object('city_notices', json_group_array(
    json_object('city_id', c.city_id, 'observation_id', peak.observation_id, 'level', $level))))
FROM peak, places.cities c
WHERE c.population >= $people AND km(c.latitude, c.longitude, peak.latitude, peak.longitude) <= $radius
""",
    cases=(
        Case(
            "As an exercise, replay Iris of 2001: on the ground of the first observation of its top wind, send a "
            "notice of level 'warning' to every city of 50,000 people or more within 200 km of the storm's centre.",
            storm="Iris",
            season=2001,
            people=50_000,
            radius=200,
            level="warning",
        ),
        Case(
            "Drill for the civil guard. Suppose Charley (season 2004) has just reached its maximum wind for the first "
            "time; all towns with no less than 100,000 residents that lie 180 kilometres or nearer should get an "
            "'emergency' notice that refers to this observation.",
            storm="Charley",
            season=2004,
            people=100_000,
            radius=180,
            level="emergency",
        ),
        Case(
            "Please issue level 'watch' to the cities with at least 80,000 inhabitants lying at most 150 km from where "
            "Sandy in 2012 was when its highest wind speed was recorded first, and cite that very observation.",
            storm="Sandy",
            season=2012,
            people=80_000,
            radius=150,
            level="watch",
        ),
    ),
)

_REPORT_HIGHEST = Recipe(
    id="report-highest",
    services=("places",),
    split="long",
    type="state",
    program="""
country = next(c for c in search_countries(query=$country) if c["name"] == $country)
listed = list_country_airfields(
    country_id=country["country_id"], codes="iata", min_elevation_ft=$feet, page_size=100
)["airfields"]
fields = [get_airfield(airfield_id=field["airfield_id"]) for field in listed]
highest = max(fields, key=lambda field: field["elevation_ft"])
create_error_report(place_id=highest["airfield_id"], field="elevation")
print("done")
""",
    query="""
SELECT json_object('places', json_object('error_reports', json_array(
    json_object('place_id', a.airfield_id, 'field', 'elevation'))))
FROM places.airfields a JOIN places.countries k USING (country_id)
WHERE k.name = $country AND a.iata IS NOT NULL ORDER BY a.elevation_ft DESC LIMIT 1
""",
    cases=(
        Case(
            "I doubt the figure for the highest airfield in Colombia that has an IATA code; those to look at are at "
            "6000 feet or more. Report its elevation to the editors as wrong.",
            country="Colombia",
            feet=6000,
        ),
        Case(
            "Among Mexico's IATA-coded airports situated 6500 ft up or higher, one is on top; file an error report on "
            "its elevation, the record seems mistaken to us.",
            country="Mexico",
            feet=6500,
        ),
        Case(
            "Ecuador has several fields with an IATA code above 5,000 feet. Would you tell the data people that the "
            "elevation they give for the uppermost of them cannot be right?",
            country="Ecuador",
            feet=5000,
        ),
    ),
)

RECIPES = (
    _ALERT_BY_AREA,
    _ALERT_BY_VISITS,
    _ALERTS_FOR_NEIGHBOURS,
    _CAPITALS_TRIP,
    _NOTICES_AT_PEAK,
    _REPORT_HIGHEST,
)
