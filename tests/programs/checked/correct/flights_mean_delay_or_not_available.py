# tools: flights
# expect: none
# why: The delays may be null and the list empty: both are tested, and the average may be None where it is formatted only after a test.
from statistics import mean, median


def delays(code, date="2013-12-23"):
    out, number = [], 1
    while True:
        page = list_departure_delays(origin="JFK", date=date, airline=code, page=number)
        out += (d for f in page["flights"] if (d := f["departure_delay_minutes"]) is not None)
        if number == page["pages"] or not page["flights"]:
            return out
        number += 1


table = {}
for airline in list_airlines():
    minutes = delays(airline["code"])
    table[airline["name"]] = (mean(minutes), median(minutes)) if minutes else None

known = {name: pair for name, pair in table.items() if pair}
for name, (average, middle) in sorted(known.items(), key=lambda kv: kv[1], reverse=True):
    print(f"{name}: {average:+.1f} on average, median {middle:g}")
for name in table.keys() - known.keys():
    print(f"{name}: n/a")
