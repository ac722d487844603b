# tools: flights
# expect: none
from collections import Counter

days = [f"2013-11-{d:02}" for d in (27, 28)]
before, holiday = (
    Counter(f["destination"] for f in list_departures(origin="LGA", date=day, from_hour=6, to_hour=9, page_size=200)["flights"])
    for day in days
)
dropped = before - holiday
lines = [f"{get_airport(airport=code)['name'].split()[0]} -{n}" for code, n in dropped.most_common(2)]
print("\n".join(lines) or "none", (before & holiday).total() > 0)
