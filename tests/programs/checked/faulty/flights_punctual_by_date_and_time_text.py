# tools: flights
# expect: never-equal line 11
# fault: actual_departure is HH:MM or null, while planned_at is 'YYYY-MM-DD HH:MM': they can never be equal
punctual = []
for leg in find_flights(airline="AA", flight_number=1, date="2013-05-14"):
    fid = leg["flight_id"]
    plan, actual = get_flight(flight_id=fid), get_flight_status(flight_id=fid)
    planned_at = f"{plan['date']} {plan['scheduled_departure']}"
    if actual["status"] == "cancelled":
        continue
    if actual["actual_departure"] == planned_at:
        punctual.append(f"{plan['origin']}-{plan['destination']}")
print("On the minute:", ", ".join(punctual) or "none")
