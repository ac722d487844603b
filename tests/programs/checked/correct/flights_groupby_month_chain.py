# tools: flights
# expect: none
# why: pages from 2 on come from a generator starred into chain; groups are counted by sum(1 for _ in group) and sorted by the same key
import calendar
from itertools import chain, groupby


def month(flight):
    return flight["date"][5:7]


first = list_flight_dates(airline="AA", flight_number=1, page_size=200)
rest = (
    list_flight_dates(airline="AA", flight_number=1, page=n, page_size=200)
    for n in range(2, first["pages"] + 1)
)
dates = chain(first["flights"], *(p["flights"] for p in rest))
counts = [(calendar.month_abbr[int(m)], sum(1 for _ in group)) for m, group in groupby(sorted(dates, key=month), key=month)]
print(*(f"{m}:{n}" for m, n in counts), sep="  ")
print(first["total"], "flights")
