# tools: places
# expect: not-an-object line 16
# fault: list_active_storms gives a list of id strings; the elements are indexed with "storm_id" as if they were objects.
from datetime import date, timedelta


def days(first, last):
    while first <= last:
        yield first
        first += timedelta(days=1)


seen = {}
for day in days(date(2017, 9, 5), date(2017, 9, 8)):
    for storm in list_active_storms(date=day.isoformat()):
        seen.setdefault(storm["storm_id"], []).append(day)

for storm_id, dates in seen.items():
    print(f"{get_storm(storm_id=storm_id)['name']}: {len(dates)} of 4 days")
