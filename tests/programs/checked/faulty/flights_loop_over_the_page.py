# tools: flights
# kind: loops
# expect: not-a-list line 4
for flight in list_arrivals(destination="BOS", date="2013-06-01"):
    print(flight["flight_id"])
