# tools: flights
# expect: wrong-argument-type line 6
from datetime import date, timedelta

day = date.today() - timedelta(days=1)
page = list_cancelled_flights(date=day.strftime("%d/%m/%Y"), origin="JFK")
print(page["total"])
