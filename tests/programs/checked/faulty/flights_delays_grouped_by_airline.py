# tools: flights
# expect: missing-key line 17
# fault: The rows of list_departure_delays have flight_id and departure_delay_minutes only, no airline.
from collections import defaultdict
from statistics import mean

rows, number = [], 1
while True:
    page = list_departure_delays(origin="EWR", date="2013-02-08", page=number, page_size=200)
    rows.extend(r for r in page["flights"] if r["departure_delay_minutes"] is not None)
    if number >= page["pages"]:
        break
    number += 1

groups = defaultdict(list)
for row in rows:
    groups[row["airline"]].append(row["departure_delay_minutes"])

for code in sorted(groups, key=lambda c: mean(groups[c]), reverse=True)[:3]:
    print(f"{get_airline(airline=code)['name']}: {mean(groups[code]):.0f} min")
if not groups:
    print("No departures")
