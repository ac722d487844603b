# tools: flights
# expect: never-equal line 6
late = 0
for leg in find_flights(airline="AA", flight_number=1, date="2013-05-14"):
    plan = get_flight(flight_id=leg["flight_id"])
    if plan["date"] != f"{plan['date']} {plan['scheduled_departure']}":
        late += 1
print(late)
