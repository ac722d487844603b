# tools: flights
# kind: objects unpacked as pairs give their keys
# expect: not-a-list line 7
day = "2013-06-13"
for origin in ("JFK", "LGA"):
    page = list_departure_delays(origin=origin, date=day, page_size=200)
    late = [fid for fid, delay in page["flights"] if delay is not None and delay > 60]
    print(f"{len(late)} flights left {origin} more than an hour late on {day}")
