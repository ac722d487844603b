# tools: flights
# expect: not-a-list line 9
# fault: list_plane_flights answers a page object, so the loop runs over its keys (text) and flight["date"] indexes a str with a str
def half_year(tail):
    return list_plane_flights(tail_number=tail, start_date="2013-01-01", end_date="2013-06-30", page_size=200)


per_month = {}
for flight in half_year("N14228"):
    month = flight["date"][:7]
    per_month[month] = per_month.get(month, 0) + 1

for month, count in sorted(per_month.items()):
    print(f"{month}: {count}")
print("Total:", sum(per_month.values()))
