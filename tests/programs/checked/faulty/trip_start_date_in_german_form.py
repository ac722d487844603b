# tools: places
# expect: wrong-argument-type line 12
# fault: the start date is formatted as DD.MM.YYYY, while create_trip_plan's start_date has the format date (YYYY-MM-DD)
from datetime import date, timedelta

DAY = "%d.%m.%Y"
holiday = date(2025, 7, 14)
start = (holiday - timedelta(days=3)).strftime(DAY)

home = search_cities(query="Strasbourg", limit=1)
if home:
    plan = create_trip_plan(start_city_id=home[0]["city_id"], start_date=start, travellers=2)
    for name, nights in (("Reims", 1), ("Paris", 4)):
        hit = search_cities(query=name, limit=1)
        if hit:
            plan = add_trip_stop(plan_id=plan["plan_id"], city_id=hit[0]["city_id"], nights=nights)
    print(plan["plan_id"], sum(s["nights"] for s in plan["stops"]), "nights")
