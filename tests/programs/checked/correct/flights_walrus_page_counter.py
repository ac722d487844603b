# tools: flights
# expect: none
# why: page is bound in the while test by a walrus and read after the loop; the loop body always runs
number = 0
rows = []
while (number := number + 1) and (page := list_plane_flights(tail_number="N14228", page=number, page_size=200)):
    rows.extend(page["flights"])
    if page["page"] >= page["pages"]:
        break

by_month = {}
for flight in rows:
    by_month[flight["date"][5:7]] = by_month.get(flight["date"][5:7], 0) + 1
assert sum(by_month.values()) == len(rows)
for month in sorted(by_month):
    print(f"{int(month):2d}: {by_month[month]}")
print("listed", len(rows), "of", page["total"])
