# tools: flights
# expect: none
from datetime import date, datetime, timedelta

start = date(2013, 12, 27)
week = [start + timedelta(days=i) for i in range(7)]
totals = {}
for day in [d for d in week if d.year == 2013]:
    totals[day] = list_cancelled_flights(date=day.isoformat(), origin="JFK", page_size=1)["total"]
for back in range(10):
    day = start + timedelta(days=back)
    if day >= date(2014, 1, 1):
        break
    totals[day] = list_cancelled_flights(date=f"{day:%Y-%m-%d}", origin="JFK", page_size=1)["total"]
day = start
while day.year == 2013:
    totals[day] = list_cancelled_flights(date=str(day), origin="LGA", page_size=1)["total"]
    day = day + timedelta(days=1)
for back in range(5):
    day = date.fromisoformat("2013-01-07") - timedelta(days=back)
    totals[day] = list_cancelled_flights(date=day.strftime("%Y-%m-%d"), origin="EWR", page_size=1)["total"]
for month in range(1, 13):
    text = f"2013-{month:02d}-01"
    totals[datetime.strptime(text, "%Y-%m-%d").date()] = list_cancelled_flights(date=text, page_size=1)["total"]
busiest = max(totals, key=totals.get)
print(f"{busiest:%A, %d %B}: {totals[busiest]}")
