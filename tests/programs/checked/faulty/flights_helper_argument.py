# tools: flights
# kind: the program's own function called with too little
# expect: missing-argument line 10
def carriers(origin, destination, *, limit):
    codes = list_route_airlines(origin=origin, destination=destination)
    return [get_airline(airline=code)["name"] for code in codes[:limit]]


for destination in ("MIA", "SEA"):
    names = carriers("JFK", destination)
    print(f"{destination}: {', '.join(names)}")
