# tools: places
# expect: positional-argument line 14
# fault: the tools take keyword arguments only, but the tuple is spread into positional arguments of create_trip_plan.
TRIPS = [("Vienna", "2024-06-01", 2), ("Porto", "2024-07-15", 4)]

for start, when, people in TRIPS:
    candidates = search_cities(query=start, limit=5)
    cities = [get_city(city_id=c["city_id"]) for c in candidates]
    if not cities:
        print(f"{start}: not found")
        continue
    biggest = max(cities, key=lambda c: c["population"])
    order = (biggest["city_id"], when, people)
    plan = create_trip_plan(*order)
    print(f"{start}: plan {plan['plan_id']} for {plan['travellers']} from {plan['start_date']}")
