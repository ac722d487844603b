"""Cities that teams and flights lead to."""

from __future__ import annotations

from toolflow_bench.recipes.recipe import Case, Recipe

_SERIES_CITIES = Recipe(
    id="series-cities",
    services=("baseball", "places"),
    split="long",
    type="number",
    program="""
final = next(s for s in list_postseason_series(season=$season) if s["round"] == "WS")
series = get_postseason_series(series_id=final["series_id"])
country = next(c for c in search_countries(query="United States") if c["name"] == "United States")["country_id"]
inhabitants = []
for team_id in (series["winner_team_id"], series["loser_team_id"]):
    park_id = max(list_team_parks(team_id=team_id), key=lambda one: one["games"])["park_id"]
    town = get_park(park_id=park_id)["city"]
    namesakes = [c for c in search_cities(query=town, country_id=country) if c["name"] == town]
    inhabitants.append(max(get_city(city_id=c["city_id"])["population"] for c in namesakes))
print(abs(inhabitants[0] - inhabitants[1]))
""",
    query="""
WITH sides AS (
    SELECT winner_team_id AS team_id FROM baseball.series WHERE season = $season AND round = 'WS'
    UNION ALL SELECT loser_team_id FROM baseball.series WHERE season = $season AND round = 'WS'),
homes AS (
    SELECT s.team_id, p.city, max(h.games) FROM sides s JOIN baseball.home_games h ON h.team_id = s.team_id
    JOIN baseball.parks p ON p.park_id = h.park_id GROUP BY s.team_id),
sizes AS (
    SELECT homes.team_id, max(c.population) AS people FROM homes
    JOIN places.cities c ON c.name = homes.city
    JOIN places.countries u ON u.country_id = c.country_id AND u.iso2 = 'US' GROUP BY homes.team_id)
SELECT max(people) - min(people) FROM sizes
""",
    cases=(
        Case(
            "Two clubs met in the World Series of 2010. By how many inhabitants do the cities of their home "
            "grounds differ? Where several US cities have the name, the most populous is meant.",
            season=2010,
        ),
        Case(
            "Compare the hosts of the 2008 World Series: how many more people live in the bigger of the two "
            "teams' home cities than in the smaller (the largest city of that name in the United States each "
            "time)?",
            season=2008,
        ),
        Case(
            "What is the gap in population between the two towns in which the finalists of baseball's 2016 "
            "season, the two World Series teams, had their main ballparks? Of American namesakes take the "
            "largest.",
            season=2016,
        ),
        Case(
            "Think of the winner and the loser of the 2007 World Series and of the US cities where each played "
            "most home games that year. Subtract the smaller population from the larger; for ambiguous names use "
            "the most populous.",
            season=2007,
        ),
    ),
)

_DESTINATION_TOWNS = Recipe(
    id="destination-towns",
    services=("flights", "places"),
    split="long",
    type="number",
    program="""
airline = next(a["code"] for a in search_airlines(query=$airline) if a["name"] == $airline)
flights = list_departures(origin=$origin, date=$date, airline=airline, page_size=200)["flights"]
towns = {}
for code in sorted({flight["destination"] for flight in flights}):
    found = [get_airfield(airfield_id=a["airfield_id"]) for a in search_airfields(query=code, limit=1)]
    field = next(f for f in found if f["iata"] == code)
    town = field["municipality"]
    for city in search_cities(query=town, country_id=field["country_id"], limit=3):
        if city["name"] == town:
            details = get_city(city_id=city["city_id"])
            towns[town] = max(towns.get(town, 0), details["population"])
print(sum(towns.values()))
""",
    query="""
SELECT sum(people) FROM (
    SELECT c.name, max(c.population) AS people FROM flights.airlines al JOIN flights.flights f ON f.airline = al.code
    JOIN places.airfields a ON a.iata = f.destination
    JOIN places.cities c ON c.name = a.municipality AND c.country_id = a.country_id
    WHERE al.name = $airline AND f.origin = $origin AND f.date = $date GROUP BY c.name)
""",
    cases=(
        Case(
            "Delta Air Lines Inc. flew from Newark (EWR) to a few towns on 14 August 2013. How many people live in all "
            "the towns together that these destination airports belong to? If a country has several cities of a "
            "name, take its largest.",
            airline="Delta Air Lines Inc.",
            origin="EWR",
            date="2013-08-14",
        ),
        Case(
            "Consider every airport that US Airways Inc. scheduled a flight to from LGA on 3 March 2013, and the city "
            "that it serves (the most populous of that name in the country). What is the combined population?",
            airline="US Airways Inc.",
            origin="LGA",
            date="2013-03-03",
        ),
        Case(
            "On 14 August 2013, where could one go from LaGuardia with United Air Lines Inc.? Add up the inhabitants "
            "of the municipalities of those airports, each once, always the biggest city so named.",
            airline="United Air Lines Inc.",
            origin="LGA",
            date="2013-08-14",
        ),
        Case(
            "Virgin America had departures from Kennedy (JFK) on 14 August 2013. Look up the municipality of each "
            "destination's airport; I need the sum of their populations (of cities with equal names the largest).",
            airline="Virgin America",
            origin="JFK",
            date="2013-08-14",
        ),
    ),
)

_ALERT_WHERE_IT_LANDS = Recipe(
    id="alert-where-it-lands",
    services=("flights", "places"),
    split="long",
    type="state",
    program="""
for name, number in $flights_wanted:
    airline = next(a["code"] for a in search_airlines(query=name) if a["name"] == name)
    code = find_flights(airline=airline, flight_number=number, date=$date)[0]["destination"]
    found = [get_airfield(airfield_id=a["airfield_id"]) for a in search_airfields(query=code, limit=1)]
    field = next(f for f in found if f["iata"] == code)
    cities = search_cities(query=field["municipality"], country_id=field["country_id"], limit=10)
    same = [get_city(city_id=c["city_id"]) for c in cities if c["name"] == field["municipality"]]
    city = max(same, key=lambda one: one["population"])
    create_storm_alert(city_id=city["city_id"], radius_km=$radius, min_wind_kt=$wind)
print("done")
""",
    query="""
SELECT json_object('places', json_object('storm_alerts', json_group_array(
    json_object('city_id', city_id, 'radius_km', radius_km, 'min_wind_kt', min_wind_kt)))) FROM (
    SELECT city_id, $radius AS radius_km, $wind AS min_wind_kt FROM (
        SELECT c.city_id, max(c.population) FROM flights.flights f
        JOIN flights.airlines al ON al.code = f.airline
        JOIN places.airfields a ON a.iata = f.destination
        JOIN places.cities c ON c.name = a.municipality AND c.country_id = a.country_id
        WHERE f.date = $date AND ((al.name = $first AND f.flight_number = $first_number)
            OR (al.name = $second AND f.flight_number = $second_number)) GROUP BY f.flight_id))
""",
    cases=(
        Case(
            "Set up storm alerts (within 150 km, from 50 knots of wind) for the two cities that JetBlue Airways "
            "flight 41 and Delta Air Lines Inc. flight 95 went to on 12 June 2013. Where a name is ambiguous, the "
            "biggest city of that name in the country is meant.",
            flights_wanted=[["JetBlue Airways", 41], ["Delta Air Lines Inc.", 95]],
            first="JetBlue Airways",
            first_number=41,
            second="Delta Air Lines Inc.",
            second_number=95,
            date="2013-06-12",
            radius=150,
            wind=50,
        ),
        Case(
            "Colleagues took United Air Lines Inc. flight 15 and American Airlines Inc. flight 443 on 20 February "
            "2013. For the destination city of each flight (most populous of its name there), have me warned of "
            "any storm of 40 knots or more closer than 200 km.",
            flights_wanted=[["United Air Lines Inc.", 15], ["American Airlines Inc.", 443]],
            first="United Air Lines Inc.",
            first_number=15,
            second="American Airlines Inc.",
            second_number=443,
            date="2013-02-20",
            radius=200,
            wind=40,
        ),
    ),
)

CITY_RECIPES = (_SERIES_CITIES, _DESTINATION_TOWNS, _ALERT_WHERE_IT_LANDS)
