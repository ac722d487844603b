"""Storms and what they met: flights, ballparks, namesakes."""

from __future__ import annotations

from toolflow_bench.recipes.recipe import Case, Recipe

_FLIGHTS_UNDER_A_STORM = Recipe(
    id="flights-under-a-storm",
    services=("places", "flights"),
    split="long",
    type="number",
    program="""
storm = next(s for s in search_storms(query=$storm, season=2013) if s["name"] == $storm)
moment, page = None, 1
while moment is None:
    track = list_storm_track(storm_id=storm["storm_id"], page=page, page_size=10)
    moment = next((o for o in track["observations"] if o["time"] == $time), None)
    page += 1
centre = get_observation(observation_id=moment["observation_id"])
near = list_airfields_near(
    latitude=centre["latitude"], longitude=centre["longitude"], radius_km=$radius, codes="iata", page_size=100
)
total = 0
for field in near["airfields"]:
    code = get_airfield(airfield_id=field["airfield_id"])["iata"]
    try:
        total += list_arrivals(destination=code, date=$date, page_size=1)["total"]
    except ToolError as error:
        if error.status != 404:
            raise
print(total)
""",
    query="""
SELECT count(*) FROM places.storms s JOIN places.observations o ON o.storm_id = s.storm_id AND o.time = $time
JOIN places.airfields a ON a.iata IS NOT NULL AND km(o.latitude, o.longitude, a.latitude, a.longitude) <= $radius
JOIN flights.flights f ON f.destination = a.iata AND f.date = $date WHERE s.name = $storm AND s.season = 2013
""",
    cases=(
        Case(
            "At 18:00 UTC on 6 June 2013 the storm Andrea was about to come ashore in Florida. How many flights "
            "from the three New York airports were scheduled that day to airports (with an IATA code) that lay "
            "within 180 km of her centre at that hour? Cancelled flights count.",
            storm="Andrea",
            time="2013-06-06T18:00",
            date="2013-06-06",
            radius=180,
        ),
        Case(
            "I am writing up Andrea, the tropical storm of 2013. Take her centre as observed at noon UTC on 7 "
            "June, draw a circle of 190 km around it and add up all departures from Newark, Kennedy and LaGuardia "
            "scheduled on 7 June to any airfield with an IATA code inside, cancelled or not.",
            storm="Andrea",
            time="2013-06-07T12:00",
            date="2013-06-07",
            radius=190,
        ),
        Case(
            "On the evening of 7 June 2013, at 18:00 UTC, Andrea crossed the Carolinas. Counting every scheduled "
            "flight of that date from New York's EWR, JFK and LGA, how many were bound for airports with IATA "
            "codes no more than 160 km from where she was then?",
            storm="Andrea",
            time="2013-06-07T18:00",
            date="2013-06-07",
            radius=160,
        ),
    ),
)

_STORMS_NEAR_A_BALLPARK = Recipe(
    id="storms-near-a-ballpark",
    services=("baseball", "places"),
    split="long",
    type="set",
    program="""
import json
club = next(f for f in search_franchises(query=$club) if f["name"] == $club)
seasons = list_franchise_seasons(franchise_id=club["franchise_id"], from_season=$season, to_season=$season)
parks = list_team_parks(team_id=seasons["seasons"][0]["team_id"])
park = get_park(park_id=max(parks, key=lambda one: one["games"])["park_id"])
states = {get_us_state(state_id=s["state_id"])["postal_code"]: s["state_id"] for s in list_us_states()
          if s["name"] in $states}
cities = [get_city(city_id=c["city_id"]) for c in search_cities(query=park["city"]) if c["name"] == park["city"]]
city = next(c for c in cities if c["state_id"] == states[park["state"]])
near = list_storms_near(
    latitude=city["latitude"], longitude=city["longitude"], radius_km=$radius,
    first_season=$first, last_season=$last, page_size=100,
)
print(json.dumps(sorted(get_storm(storm_id=s["storm_id"])["name"] for s in near["storms"])))
""",
    query="""
WITH home AS (
    SELECT p.city, p.state FROM baseball.franchises f JOIN baseball.teams t ON t.franchise_id = f.franchise_id
    JOIN baseball.home_games h ON h.team_id = t.team_id JOIN baseball.parks p ON p.park_id = h.park_id
    WHERE f.name = $club AND t.season = $season ORDER BY h.games DESC LIMIT 1)
SELECT DISTINCT s.name FROM home JOIN places.us_states u ON u.postal_code = home.state
JOIN places.cities c ON c.name = home.city AND c.state_id = u.state_id
JOIN places.observations o ON km(c.latitude, c.longitude, o.latitude, o.longitude) <= $radius
JOIN places.storms s ON s.storm_id = o.storm_id WHERE s.season BETWEEN $first AND $last
""",
    cases=(
        Case(
            "The Astros franchise played most of its home games of 2005 in one city. Which Atlantic storms were "
            "observed within 60 km of that city (which lies in Texas) in the seasons 1985 to 2008? I need their "
            "names.",
            club="Houston Astros",
            season=2005,
            states=["Texas"],
            radius=60,
            first=1985,
            last=2008,
        ),
        Case(
            "List the names of all tropical systems from 2012 to 2019 that came, in at least one observation, "
            "within 80 km of the Florida city where the Tampa Bay Rays had their main ballpark in 2010.",
            club="Tampa Bay Rays",
            season=2010,
            states=["Florida"],
            radius=80,
            first=2012,
            last=2019,
        ),
        Case(
            "Where did the Atlanta Braves franchise have its main home ground in 1999, and which storms of the "
            "Atlantic seasons 1994-2006 passed that Georgia city at no more than 75 km by their recorded "
            "positions? Answer with the storms' names.",
            club="Atlanta Braves",
            season=1999,
            states=["Georgia"],
            radius=75,
            first=1994,
            last=2006,
        ),
    ),
)

_NAMESAKES = """
first_names = {}
for person in $players:
    player = next(p for p in search_players(query=person)["players"] if p["name"] == person)
    born = get_player(player_id=player["player_id"])["birth_year"]
    for storm in list_season_storms(season=born):
        if storm["name"] == person.split()[0]:
            first_names[person] = storm["storm_id"]
"""
_NAMESAKES_QUERY = """
FROM baseball.players p JOIN places.storms s ON s.season = p.birth_year AND p.name LIKE s.name || ' %'
JOIN places.observations o ON o.storm_id = s.storm_id
WHERE p.name IN ($first, $second, $third) HAVING count(*) > 0
"""

_NAMESAKE_STORM = Recipe(
    id="namesake-storm",
    services=("baseball", "places"),
    split="long",
    type="number",
    program=_NAMESAKES
    + """
winds = []
for storm_id in first_names.values():
    winds += [o["wind_kt"] for o in list_storm_track(storm_id=storm_id, page_size=100)["observations"]]
print(max(winds) if winds else "none")
""",
    query="SELECT max(o.wind_kt) " + _NAMESAKES_QUERY,
    cases=(
        Case(
            "Andrew McCutchen, Dallas Keuchel and Matt Harvey: one of these ballplayers shares his first name "
            "with an Atlantic storm of the year he was born in. What was the highest wind, in knots, observed in "
            "that storm? Say none if I am wrong and no such storm exists.",
            players=["Andrew McCutchen", "Dallas Keuchel", "Matt Harvey"],
            first="Andrew McCutchen",
            second="Dallas Keuchel",
            third="Matt Harvey",
        ),
        Case(
            "For a trivia night: look at the birth years of Chris Archer, Joey Votto and Buster Posey. If an "
            "Atlantic tropical storm of the birth year carried the first name of one of those three, how strong "
            "in knots did its wind get at most? Otherwise the answer is none.",
            players=["Chris Archer", "Joey Votto", "Buster Posey"],
            first="Chris Archer",
            second="Joey Votto",
            third="Buster Posey",
        ),
    ),
)

_NO_NAMESAKE_STORM = Recipe(
    id="no-namesake-storm",
    services=("baseball", "places"),
    split="long",
    type="none",
    program=_NAMESAKES
    + """
print(", ".join(first_names) or "none")
""",
    query="SELECT max(o.wind_kt) " + _NAMESAKES_QUERY,
    cases=(
        Case(
            "Was any of the players Mike Trout, Buster Posey and Clayton Kershaw born in a year in which a storm "
            "over the Atlantic had the same first name as he? Give that storm's highest wind in knots, or none.",
            players=["Mike Trout", "Buster Posey", "Clayton Kershaw"],
            first="Mike Trout",
            second="Buster Posey",
            third="Clayton Kershaw",
        ),
        Case(
            "My son thinks that David Wright, Ryan Braun or Prince Fielder was named like a storm that the "
            "Atlantic saw in the very year of his birth. How many knots did that storm reach? Answer none if he "
            "is mistaken.",
            players=["David Wright", "Ryan Braun", "Prince Fielder"],
            first="David Wright",
            second="Ryan Braun",
            third="Prince Fielder",
        ),
    ),
)

STORM_RECIPES = (_FLIGHTS_UNDER_A_STORM, _STORMS_NEAR_A_BALLPARK, _NAMESAKE_STORM, _NO_NAMESAKE_STORM)
