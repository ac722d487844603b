# tools: flights
# expect: wrong-argument-type line 15
# fault: most_common(1)[0] is a pair (code, count), so airline= gets a tuple where a two-character code is required.
from collections import Counter

def all_cancelled(date):
    first = list_cancelled_flights(date=date, page_size=200)
    yield from first["flights"]
    for number in range(2, first["pages"] + 1):
        yield from list_cancelled_flights(date=date, page=number, page_size=200)["flights"]

counts = Counter(flight["airline"] for flight in all_cancelled("2013-03-06"))
if counts:
    hardest_hit = counts.most_common(1)[0]
    airline = get_airline(airline=hardest_hit)
    print(f"{airline['name']} cancelled the most flights.")
else:
    print("Nothing was cancelled.")
