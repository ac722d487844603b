# tools: flights
# expect: missing-argument line 10
# fault: list_departures requires date, which neither the partial nor any call of summary gives
from functools import partial

jfk_morning = partial(list_departures, origin="JFK", from_hour=5, to_hour=9, page_size=200)


def summary(airline, **extra):
    page = jfk_morning(airline=airline, **extra)
    return page["total"], sorted({f["destination"] for f in page["flights"]})


for code in ("AA", "B6", "DL"):
    total, places = summary(code)
    print(f"{code}: {total} flights to {', '.join(places) or 'nowhere'}")
