# tools: flights
# expect: none
# why: Dates are reckoned with timedelta, but stay between the first and the last available date, so every text passed is a date of 2013.
from datetime import date, timedelta

span = get_available_dates()
first, last = (date.fromisoformat(span[f"{which}_date"]) for which in ("first", "last"))
day = max(first, last - timedelta(weeks=1))
totals = []
while day <= last:
    page = list_cancelled_flights(date=f"{day:%Y-%m-%d}", page_size=1)
    totals.append((page["total"], day))
    if day == last:
        break
    day += timedelta(days=1)

if totals:
    most, when = max(totals)
    print(f"{sum(n for n, _ in totals)} cancelled in {len(totals)} days; most on {when:%A %d %B}: {most}")
else:
    print("no dates")
