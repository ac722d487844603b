# tools: flights
# expect: missing-key line 6
page = 1
answer = list_departures(origin="JFK", date="2013-01-01")
total = 0
while page <= answer["page_count"]:
    total += len(answer["flights"])
    page += 1
    answer = list_departures(origin="JFK", date="2013-01-01", page=page)
print(total)
