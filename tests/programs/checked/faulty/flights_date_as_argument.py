# tools: flights
# kind: wrong literal type
# expect: wrong-argument-type line 7
from datetime import date, timedelta

day = date(2013, 1, 1) + timedelta(days=30)
print(list_cancelled_flights(date=day)["total"])
