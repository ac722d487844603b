# tools: flights
# expect: none
from datetime import datetime

counts = {}
seen = {}
for leg in find_flights(airline="AA", flight_number=1, date="2013-05-14"):
    plan = get_flight(flight_id=leg["flight_id"])
    status = get_flight_status(flight_id=plan["flight_id"])
    planned = datetime.strptime(f"{plan['date']} {plan['scheduled_departure']}", "%Y-%m-%d %H:%M")
    if status["actual_departure"] == plan["scheduled_departure"]:
        counts[plan["origin"]] = counts.get(plan["origin"], 0) + 1
    if status["actual_departure"] != f"{planned:%H:%M}":
        seen[plan["destination"]] = planned
    if plan["date"] == planned.date().isoformat() and plan["origin"] in ("JFK", "EWR"):
        print(f"{plan['date']:>12}{status['status']:<10}{planned:%d %B %Y}{len(counts):05d}")
    print("{:>5} {:%H:%M} {!r:>8}".format(plan["origin"], planned, len(seen)))
for code in ["JFK", "EWR"]:
    airport = get_airport(airport=f"{code}"[:3])
    icao = f"K{code}"
    print(icao, airport["name"], counts.get(code, 0), airport["airport"] == icao[1:] if "airport" in airport else "")
MODE = "short"
for mode in ("long", "wide"):
    if mode == MODE or mode in ("short", "tiny"):
        print("never so far")
for leg in find_flights(airline="AA", flight_number=1, date="2013-05-14"):
    if leg["flight_id"] != "" and leg["flight_id"] != "unknown":
        print(get_flight(flight_id=leg["flight_id"])["date"] >= "2013-05")
