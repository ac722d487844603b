# tools: flights
# expect: none
# why: The pages are collected by a recursive function with a default of None, and the star unpacking has [None] to fall back upon.
def dates(airline, number, page=1, seen=None):
    seen = [] if seen is None else seen
    answer = list_flight_dates(
        airline=airline, flight_number=number, start_date="2013-11-01", end_date="2013-11-30", page=page
    )
    seen.extend((f["date"], f["flight_id"]) for f in answer["flights"])
    return seen if page >= answer["pages"] else dates(airline, number, page + 1, seen)


watched = {w["flight_id"] for w in list_watches()}
late = []
for day, flight_id in dates("UA", 1545):
    status = get_flight_status(flight_id=flight_id)
    if status["status"] == "landed" and (status["arrival_delay_minutes"] or 0) > 60:
        late.append((status["arrival_delay_minutes"], day, flight_id))

worst, *rest = sorted(late, reverse=True) or [None]
if worst is None:
    print("never more than an hour late")
else:
    minutes, day, flight_id = worst
    if flight_id not in watched:
        create_watch(flight_id=flight_id, note=f"{minutes} minutes late on {day}"[:200])
    print(f"worst: {day}, {minutes} min; {len(rest)} more")
