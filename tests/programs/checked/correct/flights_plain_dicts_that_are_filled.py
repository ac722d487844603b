# tools: flights
# expect: none
flights = list_arrivals(destination="SFO", date="2013-02-14", page_size=8)["flights"]
counts, tried, given = {}, {}, {}
lists = {}
for flight in flights:
    origin = flight["origin"]
    if origin in counts:
        counts[origin] += 1
    else:
        counts[origin] = 1
    try:
        tried[origin] += 1
    except KeyError:
        tried[origin] = 1
    lists.setdefault(origin, [])
    lists[origin].append(flight["flight_number"])


def note(table, key):
    table.setdefault(key, 0)
    table[key] += 1


for flight in flights:
    note(given, flight["airline"])
    given[flight["airline"]] += 0
swapped = {}
swapped |= {flight["airline"]: 0 for flight in flights}
for flight in flights:
    swapped[flight["airline"]] += 1
seen = dict()
for flight in flights:
    seen.update({flight["airline"]: seen.get(flight["airline"], 0)})
    seen[flight["airline"]] += 1
print(counts, tried, given, swapped, seen, lists)
