"""People, where they come from, and what happened on their days."""

from __future__ import annotations

from toolflow_bench.recipes.recipe import Case, Recipe

_DEBUT_WEATHER = Recipe(
    id="debut-weather",
    services=("baseball", "flights"),
    split="long",
    type="number",
    tolerance=0.05,
    program="""
warmest = []
for name in $players:
    player = next(p for p in search_players(query=name)["players"] if p["name"] == name and p["birth_year"] > 1980)
    debut = get_player(player_id=player["player_id"])["debut"]
    hours = list_hourly_weather(airport=$airport, date=debut)
    warmest.append(max(h["temperature_f"] for h in hours if h["temperature_f"] is not None))
print(round(sum(warmest) / len(warmest), 1))
""",
    query="""
SELECT round(avg(high), 1) FROM (
    SELECT max(w.temperature_f) AS high FROM baseball.players p
    JOIN flights.weather w ON w.airport = $airport AND w.date = p.debut
    WHERE p.name IN ($first, $second, $third) AND p.birth_year > 1980 GROUP BY p.player_id)
""",
    cases=(
        Case(
            "Gerrit Cole, Sonny Gray and Nolan Arenado all played their first major-league game in 2013. What was "
            "the average, over their three debut days, of the day's highest temperature at LaGuardia airport, in "
            "degrees Fahrenheit, to one decimal?",
            players=["Gerrit Cole", "Sonny Gray", "Nolan Arenado"],
            first="Gerrit Cole",
            second="Sonny Gray",
            third="Nolan Arenado",
            airport="LGA",
        ),
        Case(
            "Find the dates on which Yasiel Puig, Christian Yelich and Michael Wacha first took the field in the "
            "majors. How hot did it get at Newark (EWR) on those days: mean of the three daily maxima in "
            "Fahrenheit, one decimal?",
            players=["Yasiel Puig", "Christian Yelich", "Michael Wacha"],
            first="Yasiel Puig",
            second="Christian Yelich",
            third="Michael Wacha",
            airport="EWR",
        ),
        Case(
            "Take the debuts of Xander Bogaerts, Anthony Rendon and Wil Myers. I want the maximum temperature "
            "that JFK recorded on each of these dates, averaged and rounded to a tenth of a degree F.",
            players=["Xander Bogaerts", "Anthony Rendon", "Wil Myers"],
            first="Xander Bogaerts",
            second="Anthony Rendon",
            third="Wil Myers",
            airport="JFK",
        ),
    ),
)

_HOME_STATE_CITY = Recipe(
    id="home-state-city",
    services=("movies", "places"),
    split="long",
    type="number",
    program="""
winner = None
for item in list_ceremony_awards(ceremony_year=$year):
    if item["category"] == $category:
        winner = get_award(award_id=item["award_id"])["person_id"]
home = get_person(person_id=winner)["place_id"]
place = next(p["name"] for p in list_birthplaces() if p["place_id"] == home)
state = next(s["state_id"] for s in list_us_states() if s["name"] == place)
cities = list_state_cities(state_id=state, min_population=$least, page_size=100)["cities"]
people = sorted(get_city(city_id=c["city_id"])["population"] for c in cities)
print(people[-2])
""",
    query="""
SELECT c.population FROM movies.awards a JOIN movies.people pe ON pe.person_id = a.person_id
JOIN movies.places b ON b.place_id = pe.place_id JOIN places.us_states s ON s.name = b.name
JOIN places.cities c ON c.state_id = s.state_id
WHERE a.ceremony_year = $year AND a.category = $category ORDER BY c.population DESC LIMIT 1 OFFSET 1
""",
    cases=(
        Case(
            "Which state was the winner of the best-actress Oscar of the 2013 ceremony born in? Tell me how many "
            "people live in that state's second most populous city (only cities of at least 50,000 matter).",
            year=2013,
            category="actress",
            least=50000,
        ),
        Case(
            "The leading actress honoured at the Academy Awards ceremony held in 1991 comes from one of the fifty "
            "states. Give the population of the second largest city there; it is sure to have more than 100,000 "
            "inhabitants.",
            year=1991,
            category="actress",
            least=100000,
        ),
        Case(
            "Population of the runner-up among the cities (by inhabitants, those over 100,000) in the home state "
            "of the man who won best actor at the Oscars ceremony of 1955?",
            year=1955,
            category="actor",
            least=100000,
        ),
        Case(
            "Somebody won the Academy Award for best actress in 2015's ceremony. In the US state of her birth, "
            "how many inhabitants has the city that comes second by population? Cities below 150,000 need not be "
            "looked at.",
            year=2015,
            category="actress",
            least=150000,
        ),
    ),
)

_COLLEGE_TOWN_AIRFIELD = Recipe(
    id="college-town-airfield",
    services=("baseball", "places"),
    split="long",
    type="number",
    program="""
player = next(p for p in search_players(query=$player)["players"] if p["name"] == $player)
years = list_player_schools(player_id=player["player_id"])
school = get_school(school_id=years[-1]["school_id"])
town = None
for city in search_cities(query=school["city"]):
    if city["name"] == school["city"]:
        details = get_city(city_id=city["city_id"])
        if details["state_id"] is not None:
            if get_us_state(state_id=details["state_id"])["postal_code"] == school["state"]:
                town = details
near = list_airfields_near(
    latitude=town["latitude"], longitude=town["longitude"], radius_km=100, codes="iata", page_size=5
)
print(get_airfield(airfield_id=near["airfields"][0]["airfield_id"])["elevation_ft"])
""",
    query="""
WITH town AS (
    SELECT c.latitude, c.longitude FROM baseball.players p JOIN baseball.attendances t ON t.player_id = p.player_id
    JOIN baseball.schools s ON s.school_id = t.school_id JOIN places.us_states u ON u.postal_code = s.state
    JOIN places.cities c ON c.name = s.city AND c.state_id = u.state_id
    WHERE p.name = $player ORDER BY t.year DESC LIMIT 1)
SELECT a.elevation_ft FROM places.airfields a, town WHERE a.iata IS NOT NULL
ORDER BY km(a.latitude, a.longitude, town.latitude, town.longitude) LIMIT 1
""",
    cases=(
        Case(
            "Buster Posey's last college lies in some town. Of all airfields with an IATA code, take the one "
            "nearest to that town's centre: how many feet above sea level is it?",
            player="Buster Posey",
        ),
        Case(
            "I want to fly to where Dustin Pedroia last studied. What is the elevation, in feet, of the closest "
            "airfield to the city of that university that has an IATA code?",
            player="Dustin Pedroia",
        ),
        Case(
            "Before Evan Longoria turned professional he went to college; look up the place of the last one he "
            "attended. How high, in feet, lies the IATA-coded airfield that is nearest to it?",
            player="Evan Longoria",
        ),
        Case(
            "Nearest airfield with an IATA code to the college town of Stephen Strasburg (his last school): its "
            "height above sea level in feet, please.",
            player="Stephen Strasburg",
        ),
    ),
)

_FILMS_OF_DEBUT_YEARS = Recipe(
    id="films-of-debut-years",
    services=("baseball", "movies"),
    split="long",
    type="state",
    program="""
for name in $players:
    player = next(p for p in search_players(query=name)["players"] if p["name"] == name)
    year = int(get_player(player_id=player["player_id"])["debut"][:4])
    for item in list_ceremony_awards(ceremony_year=year):
        if item["category"] == $category:
            film = get_award(award_id=item["award_id"])["film_id"]
            add_to_watchlist(film_id=film, priority=$priority)
print("done")
""",
    query="""
SELECT json_object('movies', json_object('watchlist', json_group_array(
    json_object('film_id', a.film_id, 'priority', $priority))))
FROM baseball.players p
JOIN movies.awards a ON a.ceremony_year = CAST(substr(p.debut, 1, 4) AS INTEGER) AND a.category = $category
WHERE p.name IN ($first, $second)
""",
    cases=(
        Case(
            "Barry Bonds and Mariano Rivera had their first games in different years. Put the films that won best "
            "actor at the Oscar ceremonies of those years on my watchlist, with high priority.",
            players=["Barry Bonds", "Mariano Rivera"],
            first="Barry Bonds",
            second="Mariano Rivera",
            category="actor",
            priority="high",
        ),
        Case(
            "For each of Derek Jeter and Albert Pujols, find the year of his debut and the film whose leading "
            "actress was honoured by the Academy in that year's ceremony, and add both films to the watchlist; "
            "low priority will do.",
            players=["Derek Jeter", "Albert Pujols"],
            first="Derek Jeter",
            second="Albert Pujols",
            category="actress",
            priority="low",
        ),
        Case(
            "My watchlist should get two more entries of normal priority: the movies with which the best-actor "
            "awards were won at the Oscars held in the years when Ozzie Smith and Rickey Henderson first played "
            "in the majors.",
            players=["Ozzie Smith", "Rickey Henderson"],
            first="Ozzie Smith",
            second="Rickey Henderson",
            category="actor",
            priority="normal",
        ),
    ),
)

PEOPLE_RECIPES = (_DEBUT_WEATHER, _HOME_STATE_CITY, _COLLEGE_TOWN_AIRFIELD, _FILMS_OF_DEBUT_YEARS)
