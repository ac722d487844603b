# tools: flights
# expect: none
# why: a defaultdict of Counters is subtracted, added up and unpacked; seats is an integer, so Counter values are numbers
from collections import Counter, defaultdict
from itertools import chain, count

def pages():
    for n in count(1):
        page = list_bookings(page=n)
        yield page["bookings"]
        if n >= page["pages"]:
            return

per_cabin: defaultdict[str, Counter] = defaultdict(Counter)
for row in chain.from_iterable(pages()):
    b = get_booking(booking_id=row["booking_id"])
    per_cabin[b["cabin"]][b["status"]] += b["seats"]

grand = sum(per_cabin.values(), Counter())
for cabin, tally in per_cabin.items():
    print(cabin, dict(tally), f"{tally['confirmed'] - tally['cancelled']:+d}")
print(*(f"{status}={seats}" for status, seats in grand.most_common()), sep=", ")
