# tools: flights
# expect: bad-literal line 10
# fault: the seven days from 2013-12-27 reach 2014-01-01 and -02, but date must match ^2013-
from datetime import date, timedelta

start = date(2013, 12, 27)
week = [start + timedelta(days=i) for i in range(7)]
totals = {}
for day in week:
    page = list_cancelled_flights(date=day.isoformat(), origin="JFK", page_size=1)
    totals[day] = page["total"]

busiest = max(totals, key=totals.get)
print(f"{busiest:%A, %d %B}: {totals[busiest]} cancelled flights")
