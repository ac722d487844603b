# tools: flights
# kind: date format not as the schema wants
# expect: wrong-argument-type line 13
from datetime import datetime, timedelta

span = get_available_dates()
last = datetime.strptime(span["last_date"], "%Y-%m-%d")
week = [last - timedelta(days=n) for n in range(7)]

cancelled = {}
for day in sorted(week):
    label = day.strftime("%d.%m.%Y")
    result = list_cancelled_flights(date=label, origin="EWR")
    cancelled[day.strftime("%a")] = result["total"]

worst = max(cancelled, key=cancelled.get)
print(f"Most cancellations on {worst}: {cancelled[worst]}")
