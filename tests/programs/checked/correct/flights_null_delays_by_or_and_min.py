# tools: flights
# expect: none
# why: departure_delay_minutes may be null; 'or 0' replaces null, and max has a default for an empty list
def minutes(origin, date):
    res = list_departure_delays(origin=origin, date=date, page_size=200)
    rows = res["flights"]
    for n in range(2, res["pages"] + 1):
        rows += list_departure_delays(origin=origin, date=date, page=n, page_size=200)["flights"]
    return [row["departure_delay_minutes"] or 0 for row in rows]

table = {o: minutes(o, "2013-05-23") for o in ("EWR", "JFK", "LGA")}
for origin, values in table.items():
    late = [v for v in values if v > 0]
    print(origin, sum(late), max(values, default=None), f"{len(late) / (len(values) or 1):.0%}")
