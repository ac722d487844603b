# tools: flights
# expect: none
from itertools import groupby

flights = list_departures(origin="EWR", date="2013-08-15", from_hour=6, to_hour=9)["flights"]
by_hour = lambda f: int(f["scheduled_departure"].split(":")[0])
for hour, group in groupby(sorted(flights, key=by_hour), key=by_hour):
    group = list(group)
    print(f"{hour:02d}", len(group), "/".join(sorted({f["destination"] for f in group})))
