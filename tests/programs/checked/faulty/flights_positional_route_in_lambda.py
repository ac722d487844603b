# tools: flights
# expect: positional-argument line 7
# expect: positional-argument line 7
# fault: tools take keyword arguments only; get_route is called with two positional ones.
home = "JFK"
codes = list_destinations(origin=home)
distances = dict(zip(codes, map(lambda code: get_route(home, code)["distance_miles"], codes)))

far = {code: miles for code, miles in distances.items() if miles > 2000}
for code, miles in sorted(far.items(), key=lambda pair: -pair[1]):
    print(f"{get_airport(airport=code)['name']}: {miles:,} miles")
print(len(far), "destinations beyond 2,000 miles")
