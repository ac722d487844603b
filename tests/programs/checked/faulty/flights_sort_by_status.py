# tools: flights
# kind: sort key of another tool
# expect: missing-key line 8
page = list_departures(origin="LGA", date="2013-03-08", page_size=30)
board = page["flights"]
if page["pages"] > 1:
    board = board + list_departures(origin="LGA", date="2013-03-08", page_size=30, page=2)["flights"]
ordered = sorted(board, key=lambda f: (f["status"], f["scheduled_departure"]))
for flight in ordered[:5]:
    print(flight["airline"], flight["flight_number"])
