"""Long tasks that follow one storm, or two, from its track to places on land."""

from __future__ import annotations

from toolflow_bench.recipes.recipe import Case, Recipe

_PEAK_CURRENCY = Recipe(
    id="peak-currency",
    services=("places",),
    split="long",
    type="text",
    program="""
storm = next(s for s in search_storms(query=$storm, season=$season) if s["name"] == $storm)
track = list_storm_track(storm_id=storm["storm_id"], page_size=100)["observations"]
peak = max(track, key=lambda point: point["wind_kt"])
centre = get_observation(observation_id=peak["observation_id"])
near = list_cities_near(
    latitude=centre["latitude"], longitude=centre["longitude"], radius_km=300, min_population=$people, page_size=1
)
city = get_city(city_id=near["cities"][0]["city_id"])
country = get_country(country_id=city["country_id"])
print(get_currency(currency_id=country["currency_id"])["code"])
""",
    query="""
WITH peak AS (
    SELECT o.latitude, o.longitude FROM places.observations o JOIN places.storms s USING (storm_id)
    WHERE s.name = $storm AND s.season = $season ORDER BY o.wind_kt DESC, o.time LIMIT 1)
SELECT u.code FROM peak CROSS JOIN places.cities c JOIN places.countries k USING (country_id)
    JOIN places.currencies u USING (currency_id)
WHERE c.population >= $people ORDER BY km(peak.latitude, peak.longitude, c.latitude, c.longitude) LIMIT 1
""",
    cases=(
        Case(
            "When Hurricane Iris of 2001 first blew at its strongest, which city of 100,000 people or more was nearest "
            "to its centre? I need the three-letter code of the currency that is used in that city's country.",
            storm="Iris",
            season=2001,
            people=100_000,
        ),
        Case(
            "We pay out storm relief in local money. Find the nearest city with at least 100000 inhabitants to where "
            "hurricane Keith (2000 season) was at the first observation of its top wind speed, and give me the ISO "
            "code of the money spent there.",
            storm="Keith",
            season=2000,
            people=100_000,
        ),
        Case(
            "Fred, the 2015 storm, peaked far out in the east. Take its position when its maximum wind was first "
            "reached and the closest city of 100 000 inhabitants or more: what is the currency code of the country "
            "that this city lies in?",
            storm="Fred",
            season=2015,
            people=100_000,
        ),
        Case(
            "Somebody claims that Irene in 2011 was strongest just off a country with its own money. Which currency "
            "(ISO code) does the country of the closest place with 100,000 or more residents use, measured from the "
            "storm's centre at the earliest reading of its highest wind?",
            storm="Irene",
            season=2011,
            people=100_000,
        ),
    ),
)

_END_COUNTIES = Recipe(
    id="end-counties",
    services=("places",),
    split="long",
    type="list",
    program="""
import json

storm = next(s for s in search_storms(query=$storm, season=$season) if s["name"] == $storm)
last = get_observation(observation_id=get_storm(storm_id=storm["storm_id"])["last_observation_id"])
near = list_cities_near(
    latitude=last["latitude"], longitude=last["longitude"], radius_km=300, min_population=50000, page_size=1
)
city = get_city(city_id=near["cities"][0]["city_id"])
state = get_us_state(state_id=city["state_id"])
counties = list_state_counties(state_id=city["state_id"], page_size=1)
print(json.dumps([state["postal_code"], counties["total"]]))
""",
    query="""
WITH last AS (
    SELECT latitude, longitude FROM places.observations JOIN places.storms USING (storm_id)
    WHERE name = $storm AND season = $season ORDER BY time DESC LIMIT 1),
city AS (
    SELECT c.state_id FROM places.cities c, last WHERE c.population >= 50000
    ORDER BY km(c.latitude, c.longitude, last.latitude, last.longitude) LIMIT 1)
SELECT postal_code FROM places.us_states JOIN city USING (state_id)
UNION ALL SELECT count(*) FROM places.counties JOIN city USING (state_id)
""",
    cases=(
        Case(
            "Andrew (1992) faded out over land. In which US state is the city of at least 50,000 people that is "
            "nearest to its last observed position? Give the state's postal code and then how many counties it has.",
            storm="Andrew",
            season=1992,
        ),
        Case(
            "I am mapping where storms die. For Katrina of the 2005 season, take the final point of its track and the "
            "closest city with 50,000 inhabitants or more; list two things: the two-letter abbreviation of that city's "
            "state, and the number of counties in the state.",
            storm="Katrina",
            season=2005,
        ),
        Case(
            "Postal abbreviation and county count, please, in this order, for the American state that holds the "
            "nearest town of 50000+ residents to the spot where tropical storm Hermine was observed for the last time "
            "in 2010.",
            storm="Hermine",
            season=2010,
        ),
    ),
)

_BIRTH_CAPITAL = Recipe(
    id="birth-capital",
    services=("places",),
    split="long",
    type="text",
    program="""
storm = next(s for s in search_storms(query=$storm, season=$season) if s["name"] == $storm)
first = get_observation(observation_id=get_storm(storm_id=storm["storm_id"])["first_observation_id"])
near = list_airfields_near(
    latitude=first["latitude"], longitude=first["longitude"], radius_km=300, codes="iata", page_size=1
)
airfield = get_airfield(airfield_id=near["airfields"][0]["airfield_id"])
country = get_country(country_id=airfield["country_id"])
print(get_city(city_id=country["capital_city_id"])["name"])
""",
    query="""
WITH first AS (
    SELECT latitude, longitude FROM places.observations JOIN places.storms USING (storm_id)
    WHERE name = $storm AND season = $season ORDER BY time LIMIT 1)
SELECT c.name FROM first CROSS JOIN places.airfields a JOIN places.countries k ON k.country_id = a.country_id
    JOIN places.cities c ON c.city_id = k.capital_city_id
WHERE a.iata IS NOT NULL ORDER BY km(a.latitude, a.longitude, first.latitude, first.longitude) LIMIT 1
""",
    cases=(
        Case(
            "Where was Hurricane Wilma of 2005 when it was first observed? Find the closest airport that has an IATA "
            "code, and tell me the capital of the country to which that airport belongs.",
            storm="Wilma",
            season=2005,
        ),
        Case(
            "Our reporter wants to fly to the birthplace of Mitch, the 1998 hurricane: the first point of its track. "
            "The nearest airfield with an IATA code lies in which country, and what is that country's capital called? "
            "Only the capital, please.",
            accept=("Bogota",),
            storm="Mitch",
            season=1998,
        ),
        Case(
            "Name the capital city of the country whose IATA-coded airport is nearest to the earliest recorded "
            "position of storm Florence in the 2018 season.",
            storm="Florence",
            season=2018,
        ),
    ),
)

_DEEPER = Recipe(
    id="deeper-of-two",
    services=("places",),
    split="long",
    type="text",
    program="""
readings = []
for name, season in (($one, $one_season), ($other, $other_season)):
    storm = next(s for s in search_storms(query=name, season=season) if s["name"] == name)
    track = list_storm_track(storm_id=storm["storm_id"], page_size=100)["observations"]
    peak = max(track, key=lambda point: point["wind_kt"])
    readings.append(get_observation(observation_id=peak["observation_id"]))
deeper = min(readings, key=lambda reading: reading["pressure_hpa"])
near = list_cities_near(
    latitude=deeper["latitude"], longitude=deeper["longitude"], radius_km=300, min_population=$people, page_size=1
)
city = get_city(city_id=near["cities"][0]["city_id"])
print(get_time_zone(time_zone_id=city["time_zone_id"])["name"])
""",
    query="""
WITH ranked AS (
    SELECT o.*, row_number() OVER (PARTITION BY storm_id ORDER BY o.wind_kt DESC, o.time) AS place
    FROM places.observations o JOIN places.storms s USING (storm_id)
    WHERE (s.name, s.season) IN (VALUES ($one, $one_season), ($other, $other_season))),
deeper AS (SELECT latitude, longitude FROM ranked WHERE place = 1 ORDER BY pressure_hpa LIMIT 1)
SELECT z.name FROM deeper CROSS JOIN places.cities c JOIN places.time_zones z USING (time_zone_id)
WHERE c.population >= $people
ORDER BY km(c.latitude, c.longitude, deeper.latitude, deeper.longitude) LIMIT 1
""",
    cases=(
        Case(
            "Compare Allen (1980) and Dennis (2005), each at the first observation of its highest wind. In which IANA "
            "time zone lies the city of at least 50,000 inhabitants that was nearest to the one with the lower central "
            "pressure?",
            one="Allen",
            one_season=1980,
            other="Dennis",
            other_season=2005,
            people=50_000,
        ),
        Case(
            "At the moment when each first had its strongest wind, was the pressure lower in Karl of 2010 or in "
            "Michelle of 2001? Take the deeper of the two storms and the closest city with 100,000 people or more to "
            "its centre then: what is that city's time zone called in the tz database?",
            one="Karl",
            one_season=2010,
            other="Michelle",
            other_season=2001,
            people=100_000,
        ),
        Case(
            "Two storms of very different fame: Irene in 2011 and Harvey in 2017. Looking at the earliest reading of "
            "top wind for both, pick the storm with less pressure in its eye. The nearest city of 100000 residents or "
            "more keeps which time zone (IANA name)?",
            one="Irene",
            one_season=2011,
            other="Harvey",
            other_season=2017,
            people=100_000,
        ),
    ),
)

_DISTANCE_OF_FIELDS = Recipe(
    id="nearer-airfield",
    services=("places",),
    split="long",
    type="list",
    program="""
import json

storm = next(s for s in search_storms(query=$storm, season=$season) if s["name"] == $storm)
track = list_storm_track(storm_id=storm["storm_id"], page_size=100)["observations"]
peak = max(track, key=lambda point: point["wind_kt"])["observation_id"]
distances = {}
for code in ($one, $other):
    airfield = search_airfields(query=code, limit=1)[0]["airfield_id"]
    distances[airfield] = get_distance(from_place_id=peak, to_place_id=airfield)
nearer = min(distances, key=distances.get)
country = get_country(country_id=get_airfield(airfield_id=nearer)["country_id"])
capital = get_city(city_id=country["capital_city_id"])
print(json.dumps([capital["name"], distances[nearer]]))
""",
    query="""
WITH peak AS (
    SELECT o.latitude, o.longitude FROM places.observations o JOIN places.storms s USING (storm_id)
    WHERE s.name = $storm AND s.season = $season ORDER BY o.wind_kt DESC, o.time LIMIT 1),
nearer AS (
    SELECT country_id, km(a.latitude, a.longitude, peak.latitude, peak.longitude) AS distance
    FROM places.airfields a, peak WHERE a.iata IN ($one, $other) ORDER BY distance LIMIT 1)
SELECT c.name FROM nearer JOIN places.countries k USING (country_id) JOIN places.cities c ON c.city_id = capital_city_id
UNION ALL SELECT round(distance, 1) FROM nearer
""",
    tolerance=0.1,
    cases=(
        Case(
            "When Hurricane Allen of 1980 was first at its top wind speed, was its centre nearer to the airport KIN or "
            "to CUN? Tell me the capital of the country that the nearer one is in, and the distance in kilometres to "
            "one decimal.",
            storm="Allen",
            season=1980,
            one="KIN",
            other="CUN",
        ),
        Case(
            "I need two things about Lenny (1999), both for the first reading of its peak wind: of the airports coded "
            "SKB and CCS take the closer one, give the capital city of its country and then how many kilometres away "
            "the storm's centre was (one decimal).",
            storm="Lenny",
            season=1999,
            one="SKB",
            other="CCS",
        ),
        Case(
            "Ivan, 2004: measured from its centre at the earliest observation with the maximum wind, which of HAV and "
            "MID lies closer? Answer with the capital of that airport's country followed by the kilometres between, "
            "rounded to a tenth.",
            storm="Ivan",
            season=2004,
            one="HAV",
            other="MID",
        ),
    ),
)

RECIPES = (_PEAK_CURRENCY, _END_COUNTIES, _BIRTH_CAPITAL, _DEEPER, _DISTANCE_OF_FIELDS)
