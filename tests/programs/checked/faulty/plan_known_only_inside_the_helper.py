# tools: places
# expect: undefined-name line 16
# fault: plan is a local name of build and is not defined at module level, where it is used after the call: NameError
def build(start, stops, day):
    plan = create_trip_plan(start_city_id=start, start_date=day, travellers=3)
    for city_id, nights in stops:
        plan = add_trip_stop(plan_id=plan["plan_id"], city_id=city_id, nights=nights)
    return plan["plan_id"]


hits = {n: search_cities(query=n, limit=1) for n in ("Lisbon", "Porto", "Faro")}
ids = [h[0]["city_id"] for h in hits.values() if h]
if len(ids) == 3:
    home, *others = ids
    plan_id = build(home, list(zip(others, (3, 2))), "2025-05-02")
    nights = sum(stop["nights"] for stop in plan["stops"])
    print(f"plan {plan_id}: {nights} nights")
else:
    print("a city is missing")
