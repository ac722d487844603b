# tools: flights
# kind: while with paging
# expect: missing-key line 8
page, flights = 1, []
while True:
    answer = list_departures(origin="JFK", date="2013-07-04", page=page)
    flights += answer["flights"]
    if page >= answer["page_count"]:
        break
    page += 1
print(len(flights))
