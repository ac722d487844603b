# tools: flights
# kind: key of own rows mis-remembered when sorting
# expect: missing-key line 18
from statistics import mean

names = {a["code"]: a["name"] for a in list_airlines()}
rows = []
for code in ("DL", "UA", "B6"):
    page = list_departure_delays(origin="JFK", date="2013-03-08", airline=code, page_size=200)
    delays = [
        f["departure_delay_minutes"]
        for f in page["flights"]
        if f["departure_delay_minutes"] is not None
    ]
    if delays:
        rows.append({"airline": names[code], "flights": len(delays), "mean_delay": mean(delays)})

rows.sort(key=lambda r: (-r["average_delay"], r["airline"]))
for row in rows:
    print(f"{row['airline']:<25}{row['flights']:>4}{row['mean_delay']:>8.1f}")
