# tools: flights
# kind: Counter
# expect: not-an-object line 8
from collections import Counter

counts = Counter(f["airline"] for f in list_departures(origin="JFK", date="2013-04-01")["flights"])
for airline, count in counts.most_common(3):
    print(airline, count["flights"])
