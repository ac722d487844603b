# tools: flights
# expect: bad-literal line 10
# fault: The third and fourth day are 2014-01-01 and 2014-01-02, and the date must match ^2013-.
from datetime import date, timedelta

start = date(2013, 12, 30)
days = [start + timedelta(days=k) for k in range(4)]
cancelled = {}
for day in days:
    page = list_cancelled_flights(date=day.isoformat(), origin="JFK")
    cancelled[f"{day:%a %d %b}"] = page["total"]

worst = max(cancelled, key=lambda d: cancelled[d])
for label, total in cancelled.items():
    print(f"{label}: {total}{' (most)' if label == worst and total else ''}")
