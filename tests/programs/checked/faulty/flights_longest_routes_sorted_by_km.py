# tools: flights
# expect: missing-key line 14
# fault: get_route answers distance_miles, no distance_km, so the sort key raises KeyError on the merged rows
def routes_of(origin):
    rows = []
    for code in list_destinations(origin=origin):
        route = get_route(origin=origin, destination=code)
        carriers = list_route_airlines(origin=origin, destination=code)
        rows.append({"carriers": len(carriers), **route})
    return rows


everything = [row for origin in ("EWR", "JFK", "LGA") for row in routes_of(origin)]
longest = sorted(everything, key=lambda row: row["distance_km"], reverse=True)[:5]
for row in longest:
    print(f"{row['origin']}-{row['destination']}: flown by {row['carriers']} airlines")
