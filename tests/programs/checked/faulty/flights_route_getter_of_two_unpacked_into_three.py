# tools: flights
# expect: wrong-unpacking line 12
# fault: itemgetter with two keys gives pairs, and the loop unpacks each of them into three names.
from operator import itemgetter

fields = itemgetter("destination", "distance_miles")
codes = list_destinations(origin="LGA")[:10]
routes = [get_route(origin="LGA", destination=code) for code in codes]
routes.sort(key=itemgetter("distance_miles"), reverse=True)

table = []
for origin, destination, miles in map(fields, routes):
    table.append(f"{origin}-{destination}: {miles} mi ({miles * 1.609:.0f} km)")
print("\n".join(table) or "no routes")
