# tools: flights
# expect: none
def search(origin, date, airline=None, destination=None, hours=None):
    query = {"origin": origin, "date": date}
    if airline is not None:
        query["airline"] = airline
    if destination:
        query |= {"destination": destination}
    if hours is not None:
        query.update(from_hour=hours[0], to_hour=hours[1])
    return list_departures(**query)["flights"]


print(len(search("JFK", "2013-05-05")), len(search("JFK", "2013-05-05", airline="DL", hours=(6, 9))))
