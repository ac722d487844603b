# tools: places
# expect: none
import json
from datetime import date, timedelta

start = date(2026, 5, 1)
plan = create_trip_plan(start_city_id="ci_a2b3c", start_date=start.isoformat(), travellers=2)
for city_id, nights in (("ci_d4e5f", 3), ("ci_g6h7i", 2)):
    plan = add_trip_stop(plan_id=plan["plan_id"], city_id=city_id, nights=nights)
nights = sum(stop["nights"] for stop in plan["stops"])
print(json.dumps({"plan": plan["plan_id"], "ends": str(start + timedelta(days=nights))}, indent=2))
print([get_city(city_id=stop["city_id"])["name"] for stop in plan["stops"]][-1])
