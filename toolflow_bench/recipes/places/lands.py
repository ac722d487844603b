"""Long tasks that go through the countries of a region."""

from __future__ import annotations

from toolflow_bench.recipes.recipe import Case, Recipe

_SMALLEST_CAPITAL_PROGRAM = """
country = next(c for c in search_countries(query=$country) if c["name"] == $country)
capitals = []
for neighbour in list_neighbours(country_id=country["country_id"]):
    capitals.append(get_city(city_id=get_country(country_id=neighbour)["capital_city_id"]))
smallest = min(capitals, key=lambda city: city["population"])
print(smallest["name"] if smallest["population"] <= $people else "no such capital")
"""
_SMALLEST_CAPITAL_QUERY = """
SELECT c.name FROM places.countries a JOIN places.neighbours n ON n.country_id = a.country_id
    JOIN places.countries b ON b.country_id = n.neighbour_id JOIN places.cities c ON c.city_id = b.capital_city_id
WHERE a.name = $country AND c.population <= $people ORDER BY c.population LIMIT 1
"""

_SMALLEST_CAPITAL = Recipe(
    id="smallest-capital",
    services=("places",),
    split="long",
    type="text",
    program=_SMALLEST_CAPITAL_PROGRAM,
    query=_SMALLEST_CAPITAL_QUERY,
    cases=(
        Case(
            "Of the capitals of the countries that border Germany, which is the smallest by inhabitants, if it has "
            "100,000 at most? Otherwise answer none.",
            country="Germany",
            people=100_000,
        ),
        Case(
            "A friend collects little seats of government. Does any land neighbour of Tanzania have a capital city of "
            "no more than 90,000 people? Name the least populous one; none if they are all bigger.",
            country="Tanzania",
            people=90_000,
        ),
    ),
)

_SMALLEST_CAPITAL_NONE = Recipe(
    id="smallest-capital-none",
    services=("places",),
    split="long",
    type="none",
    program=_SMALLEST_CAPITAL_PROGRAM,
    query=_SMALLEST_CAPITAL_QUERY,
    cases=(
        Case(
            "Check every state with a land border to Hungary: is there one whose capital has 200,000 residents or "
            "fewer? I want the name of the smallest such capital, or the word none.",
            country="Hungary",
            people=200_000,
        ),
        Case(
            "Which capital around Zambia, meaning in a country adjoining it, is the tiniest with a population not "
            "above 300,000? If no neighbouring capital is that small, reply with none.",
            country="Zambia",
            people=300_000,
        ),
    ),
)

_CURRENCY_AREA = Recipe(
    id="smallest-of-currency",
    services=("places",),
    split="long",
    type="text",
    program="""
country = next(c for c in search_countries(query=$country) if c["name"] == $country)
currency = get_country(country_id=country["country_id"])["currency_id"]
users = [get_country(country_id=user) for user in list_currency_countries(currency_id=currency)]
smallest = min(users, key=lambda user: user["area_km2"])
capital = get_city(city_id=smallest["capital_city_id"])
print(get_time_zone(time_zone_id=capital["time_zone_id"])["name"])
""",
    query="""
SELECT z.name FROM places.countries a JOIN places.countries b USING (currency_id)
    JOIN places.cities c ON c.city_id = b.capital_city_id JOIN places.time_zones z USING (time_zone_id)
WHERE a.name = $country ORDER BY b.area_km2 LIMIT 1
""",
    cases=(
        Case(
            "Several countries pay with the same currency as Senegal. Which IANA time zone does the capital of the "
            "smallest of them by area lie in?",
            country="Senegal",
        ),
        Case(
            "Cameroon shares its money with others. Among all users of that money choose the one that covers the "
            "fewest square kilometres, and give me the tz database name for its capital city.",
            country="Cameroon",
        ),
        Case(
            "In which tz zone (IANA name) is the seat of government of whichever country or territory has the least "
            "surface of all those whose currency is Denmark's?",
            country="Denmark",
        ),
    ),
)

_RANKED_COUNTRY = Recipe(
    id="ranked-country-airfield",
    services=("places",),
    split="long",
    type="list",
    program="""
import json

continent = next(c["continent_id"] for c in list_continents() if c["name"] == $continent)
listed = list_continent_countries(continent_id=continent, page_size=100)["countries"]
countries = [get_country(country_id=country["country_id"]) for country in listed]
ranked = sorted(countries, key=lambda country: country["population"] or 0, reverse=True)
capital = get_city(city_id=ranked[$rank - 1]["capital_city_id"])
near = list_airfields_near(
    latitude=capital["latitude"], longitude=capital["longitude"], radius_km=100, codes="iata", page_size=1
)
field = get_airfield(airfield_id=near["airfields"][0]["airfield_id"])
print(json.dumps([capital["name"], field["iata"], field["elevation_ft"]]))
""",
    query="""
WITH chosen AS (
    SELECT c.* FROM places.countries k JOIN places.continents n USING (continent_id)
    LEFT JOIN places.cities c ON c.city_id = k.capital_city_id
    WHERE n.name = $continent ORDER BY k.population DESC LIMIT 1 OFFSET $rank - 1),
field AS (
    SELECT a.iata, a.elevation_ft FROM places.airfields a, chosen c WHERE a.iata IS NOT NULL
    ORDER BY km(a.latitude, a.longitude, c.latitude, c.longitude) LIMIT 1)
SELECT name FROM chosen UNION ALL SELECT iata FROM field UNION ALL SELECT elevation_ft FROM field
""",
    cases=(
        Case(
            "Rank the countries of South America by population and take the fifth. What is its capital, which airfield "
            "with an IATA code is nearest to that capital (give the code), and how many feet above the sea is it?",
            continent="South America",
            rank=5,
        ),
        Case(
            "Capital, code of the closest IATA airport to it, and that airport's elevation in feet: those three for "
            "the country or territory that comes number 3 in Oceania when sorted from most to fewest inhabitants.",
            continent="Oceania",
            rank=3,
        ),
    ),
)

RECIPES = (
    _SMALLEST_CAPITAL,
    _SMALLEST_CAPITAL_NONE,
    _CURRENCY_AREA,
    _RANKED_COUNTRY,
)
