# tools: flights
# expect: none
flights, page = [], 1
while page:
    answer = list_departures(origin="JFK", date="2013-01-01", page=page, page_size=200)
    flights += answer["flights"]
    page = page + 1 if page < answer["pages"] else 0
print(len(flights), flights[0]["tail_number"], len({f["airline"] for f in flights}))
