# tools: flights
# kind: comprehensions
# expect: missing-key line 5
flights = list_departures(origin="LGA", date="2013-05-05")["flights"]
if "DL" in [f["carrier"] for f in flights]:
    print("Delta flies")
