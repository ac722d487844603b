# tools: flights
# expect: none
# why: tail_number may be null; map with itemgetter is filtered by None before Counter counts it, and most_common's pairs are unpacked by starmap.
from collections import Counter
from itertools import chain, starmap
from operator import itemgetter


def pages(origin):
    number = last = 1
    while number <= last:
        page = list_departures(origin=origin, date="2013-06-14", page=number, page_size=200)
        yield page["flights"]
        last, number = page["pages"], number + 1


flights = chain.from_iterable(chain.from_iterable(map(pages, ("EWR", "JFK", "LGA"))))
tails = Counter(filter(None, map(itemgetter("tail_number"), flights)))


def line(tail, legs):
    plane = get_plane(tail_number=tail)
    age = f"built {plane['year_built']}" if plane["year_built"] else "age unknown"
    return f"{tail}: {legs} legs, {plane['seats']} seats, {age}"


print(*starmap(line, tails.most_common(3)), sep="\n")
