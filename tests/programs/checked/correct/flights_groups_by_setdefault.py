# tools: flights
# expect: none
groups = {}
for f in list_departures(origin="EWR", date="2013-02-14")["flights"]:
    groups.setdefault(f["airline"], []).append(f["flight_id"])
for airline in sorted(groups, key=lambda a: len(groups[a]), reverse=True):
    print(airline, len(groups[airline]), groups[airline][0])
