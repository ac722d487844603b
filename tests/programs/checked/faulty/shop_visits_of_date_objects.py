# tools: shop
# expect: wrong-argument-type line 8
# fault: count_visits takes day as text YYYY-MM-DD, but gets datetime.date objects
from datetime import date, timedelta

last = date(2026, 3, 1)
days = [last - timedelta(days=n) for n in range(14)]
visits = {day: count_visits(day=day) for day in days}
weekend = [n for day, n in visits.items() if day.weekday() >= 5]
workdays = [n for day, n in visits.items() if day.weekday() < 5]
print(f"Weekend {sum(weekend) / len(weekend):.0f}, workdays {sum(workdays) / len(workdays):.0f} visits a day")
