# tools: flights
# kind: nested tuples of most_common unpacked flat
# expect: wrong-unpacking line 13
# expect: wrong-argument-type line 15
# expect: wrong-argument-type line 17
from collections import Counter

board = list_departures(origin="LGA", date="2013-07-04", page_size=200)["flights"]
pairs = Counter((f["airline"], f["destination"]) for f in board)

names = {}
report = []
for airline, destination, number in pairs.most_common(5):
    if airline not in names:
        names[airline] = get_airline(airline=airline)["name"]
    if destination not in names:
        names[destination] = get_airport(airport=destination)["name"]
    report.append(f"{names[airline]} to {names[destination]}: {number}")

print(*report, sep="\n")
