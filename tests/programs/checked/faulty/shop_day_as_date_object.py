# tools: shop
# kind: date object where text is wanted
# expect: wrong-argument-type line 12
from datetime import date, timedelta

start = date(2024, 3, 4)
week = [start + timedelta(days=n) for n in range(14)]

weekday = {"week": 0, "weekend": 0}
peak = None
for day in week:
    visits = count_visits(day=day)
    weekday["weekend" if day.weekday() >= 5 else "week"] += visits
    if peak is None or visits > peak[1]:
        peak = (day, visits)

print(f"Working days {weekday['week']}, weekends {weekday['weekend']}")
print(f"Most on {peak[0]:%A %d %B}: {peak[1]}")
