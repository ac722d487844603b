# tools: flights
# kind: methods of str, list and dict
# expect: missing-key line 6
board = list_departures(origin="LGA", date="2013-05-05")
flights = board.pop("flights")
print(flights.count("DL"), flights[0]["carrier"])
