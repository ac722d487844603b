# tools: flights
# expect: wrong-argument-type line 11
# fault: day is a datetime.date object, while list_cancelled_flights takes date as text YYYY-MM-DD.
from datetime import date, timedelta

start = date(2013, 2, 4)
week = [start + timedelta(days=n) for n in range(7)]

totals: dict[str, int] = {}
for day in week:
    result = list_cancelled_flights(date=day, origin="JFK", page_size=1)
    totals[day.strftime("%A")] = result["total"]

worst_day, count = max(totals.items(), key=lambda item: item[1])
print(f"Most cancellations on {worst_day}: {count}")
