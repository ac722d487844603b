# tools: flights
# expect: none
page = 0


def following():
    global page
    page += 1
    return list_departures(origin="LGA", date="2013-01-02", page=page, page_size=20)["flights"]


total = 0
for flights in iter(following, []):
    total += len(flights)
    first, *_ = flights
    print(first["flight_id"], total)
    if page > 3:
        break
