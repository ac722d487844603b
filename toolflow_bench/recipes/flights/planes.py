"""Long recipes on planes: what one flew, what a fleet is made of, who built it."""

from __future__ import annotations

from toolflow_bench.recipes.recipe import Case, Recipe

WEEK_OF_A_PLANE = Recipe(
    id="week-of-a-plane",
    services=("flights",),
    split="long",
    type="number",
    program="""
airline = search_airlines(query=$airline)[0]["code"]
flight = find_flights(airline=airline, flight_number=$number, date=$date)[0]
tail = get_flight(flight_id=flight["flight_id"])["tail_number"]
page = list_plane_flights(tail_number=tail, start_date=$start, end_date=$end, page_size=200)
minutes = 0
for flown in page["flights"]:
    status = get_flight_status(flight_id=flown["flight_id"])
    minutes += status["air_time_minutes"] or 0
print(minutes)
""",
    query="""
SELECT sum(f.air_time_minutes) FROM flights.flights f
WHERE f.date BETWEEN $start AND $end AND f.tail_number = (
    SELECT g.tail_number FROM flights.flights g JOIN flights.airlines a ON a.code = g.airline
    WHERE a.name LIKE '%' || $airline || '%' AND g.flight_number = $number AND g.date = $date)
""",
    cases=(
        Case(
            "I was on American Airlines flight 1 on 3 June 2013. Take the very plane that flew it: how many minutes "
            "was it in the air altogether on its flights out of New York from 1 to 12 June 2013?",
            airline="American",
            number=1,
            date="2013-06-03",
            start="2013-06-01",
            end="2013-06-12",
        ),
        Case(
            "For a maintenance log I need the total air time in minutes, over all departures from the New York "
            "airports between 10 and 18 March 2013, of the aircraft used for JetBlue 703 on 11 March 2013. Flights "
            "without an air time count as zero.",
            airline="JetBlue",
            number=703,
            date="2013-03-11",
            start="2013-03-10",
            end="2013-03-18",
        ),
        Case(
            "Which number of minutes did the plane of Virgin America 407 (the one of 7 October 2013) spend airborne "
            "when you add up everything it flew from New York in the first two weeks of that month, the 1st to the "
            "14th?",
            airline="Virgin America",
            number=407,
            date="2013-10-07",
            start="2013-10-01",
            end="2013-10-14",
        ),
    ),
)

PLANE_OF_THE_WORST_DAY = Recipe(
    id="plane-of-the-worst-day",
    services=("flights",),
    split="long",
    type="number",
    program="""
airline = search_airlines(query=$airline)[0]["code"]
page = list_flight_dates(
    airline=airline, flight_number=$number, start_date=$start, end_date=$end, page_size=200
)
worst, latest = None, None
for flight in page["flights"]:
    delay = get_flight_status(flight_id=flight["flight_id"])["arrival_delay_minutes"]
    if delay is not None and (latest is None or delay > latest):
        worst, latest = flight["flight_id"], delay
tail = get_flight(flight_id=worst)["tail_number"]
print(get_plane(tail_number=tail)["year_built"])
""",
    query="""
SELECT p.year_built FROM flights.flights f
JOIN flights.airlines a ON a.code = f.airline JOIN flights.planes p USING (tail_number)
WHERE a.name LIKE '%' || $airline || '%' AND f.flight_number = $number AND f.date BETWEEN $start AND $end
ORDER BY f.arrival_delay_minutes DESC NULLS LAST LIMIT 1
""",
    cases=(
        Case(
            "United flight 1643 had one very bad day between 25 June and 6 July 2013. In which year was the plane "
            "built that flew it on the day it arrived latest behind its schedule?",
            airline="United",
            number=1643,
            start="2013-06-25",
            end="2013-07-06",
        ),
        Case(
            "Look at every run of Delta 1643 from the 3rd to the 20th of June 2013, and find the one with the "
            "greatest arrival delay. I want the year of manufacture of its aircraft.",
            airline="Delta",
            number=1643,
            start="2013-06-03",
            end="2013-06-20",
        ),
        Case(
            "What is the year of construction of the aeroplane behind the latest arrival, measured in minutes of "
            "delay, of JetBlue's flight 27 in the period 1-15 March 2013?",
            airline="JetBlue",
            number=27,
            start="2013-03-01",
            end="2013-03-15",
        ),
        Case(
            "My neighbour flew with Virgin America 11 some time from 5 to 19 April 2013, on the date when that flight "
            "came in later than on any other of those days. How old was the plane, I mean: what year was it made?",
            airline="Virgin America",
            number=11,
            start="2013-04-05",
            end="2013-04-19",
        ),
    ),
)

BUSIEST_OF_A_FLEET = Recipe(
    id="busiest-of-a-fleet",
    services=("flights",),
    split="long",
    type="text",
    program="""
airline = search_airlines(query=$airline)[0]["code"]
flown = {}
for plane in list_airline_planes(airline=airline, page_size=200)["planes"]:
    tail = plane["tail_number"]
    flown[tail] = list_plane_flights(
        tail_number=tail, start_date=$start, end_date=$end, page_size=1
    )["total"]
busiest = max(flown, key=flown.get)
plane = get_plane(tail_number=busiest)
print(plane["model"], plane["year_built"])
""",
    query="""
WITH fleet AS (
    SELECT DISTINCT f.tail_number FROM flights.flights f JOIN flights.airlines a ON a.code = f.airline
    WHERE a.name LIKE '%' || $airline || '%'),
flown AS (
    SELECT tail_number, count(*) AS flights FROM flights.flights JOIN fleet USING (tail_number)
    WHERE date BETWEEN $start AND $end GROUP BY tail_number)
SELECT model || ' ' || year_built FROM flown JOIN flights.planes USING (tail_number) ORDER BY flights DESC LIMIT 1
""",
    cases=(
        Case(
            "Of all planes that Hawaiian Airlines flew from New York in 2013, one was scheduled on more departures "
            "from there in March 2013 than the others. Give its model and year of manufacture, as in '737-824 1998'.",
            airline="Hawaiian",
            start="2013-03-01",
            end="2013-03-31",
        ),
        Case(
            "Frontier's aircraft: which one was scheduled for the most flights out of New York from 1 February to 31 "
            "May 2013? I only need the model designation followed by the build year, for instance '757-224 1995'.",
            airline="Frontier",
            start="2013-02-01",
            end="2013-05-31",
        ),
        Case(
            "Tell me model and year built (written like 'MD-88 1990') of the machine in SkyWest's New York fleet with "
            "the highest number of departures between 1 August and 30 November 2013, cancelled ones included.",
            airline="SkyWest",
            start="2013-08-01",
            end="2013-11-30",
        ),
    ),
)

ENGINE_DIGIT = Recipe(
    id="engine-digit",
    services=("flights",),
    split="long",
    type="number",
    program="""
count = 0
for name in list_manufacturers():
    if $word not in name:
        continue
    for model in list_plane_models(manufacturer=name):
        if model[-2:-1] == $digit:
            page, pages = 1, 1
            while page <= pages:
                found = search_planes(manufacturer=name, model=model, page=page, page_size=200)
                pages, page = found["pages"], page + 1
                count += sum((p["manufacturer"], p["model"]) == (name, model) for p in found["planes"])
print(count)
""",
    query="""
SELECT count(*) FROM flights.planes
WHERE instr(manufacturer, $word) > 0 AND substr(model, length(model) - 1, 1) = $digit
""",
    cases=(
        Case(
            "On types like the A320-232, the digit before the last tells who made the engines; 3 stands for IAE. How "
            "many planes in the register, by any maker that has AIRBUS in its name, are of a model with that digit a "
            "3?",
            word="AIRBUS",
            digit="3",
        ),
        Case(
            "CFM engines show as a 1 in the last place but one of an Airbus model designation. Going through all "
            "manufacturers called AIRBUS or AIRBUS plus something, count the registered planes whose model has it "
            "there.",
            word="AIRBUS",
            digit="1",
        ),
    ),
)

WHO_ELSE_FLEW_THEM = Recipe(
    id="who-else-flew-them",
    services=("flights",),
    split="long",
    type="set",
    program="""
import json

airline = search_airlines(query=$airline)[0]["code"]
city = search_airports(query=$city, limit=1)[0]["code"]
page = list_departures(origin=$origin, date=$date, airline=airline, destination=city, page_size=200)
tails = sorted({flight["tail_number"] for flight in page["flights"] if flight["tail_number"]})
codes = sorted({code for tail in tails for code in list_plane_airlines(tail_number=tail)})
print(json.dumps([get_airline(airline=code)["name"] for code in codes]))
""",
    query="""
SELECT DISTINCT b.name FROM flights.flights f JOIN flights.airlines a ON a.code = f.airline
JOIN flights.airports d ON d.code = f.destination
JOIN flights.flights g USING (tail_number) JOIN flights.airlines b ON b.code = g.airline
WHERE a.name LIKE '%' || $airline || '%' AND d.name = $airport_name AND f.origin = $origin AND f.date = $date
""",
    cases=(
        Case(
            "Some planes changed hands during 2013. Which airlines flew, at any time of that year, at least one of "
            "the planes that AirTran used from LaGuardia (LGA) to Atlanta on 7 May 2013? Full airline names, "
            "AirTran's too.",
            airline="AirTran",
            origin="LGA",
            city="Atlanta",
            airport_name="Hartsfield Jackson Atlanta Intl",
            date="2013-05-07",
        ),
        Case(
            "ExpressJet flew from Newark (EWR) to Detroit several times on 16 August 2013. List every airline, by "
            "full name and itself included, for which one or more of these aircraft flew out of New York that year.",
            airline="ExpressJet",
            origin="EWR",
            city="Detroit",
            airport_name="Detroit Metro Wayne Co",
            date="2013-08-16",
        ),
    ),
)

RECIPES = (WEEK_OF_A_PLANE, PLANE_OF_THE_WORST_DAY, BUSIEST_OF_A_FLEET, ENGINE_DIGIT, WHO_ELSE_FLEW_THEM)
