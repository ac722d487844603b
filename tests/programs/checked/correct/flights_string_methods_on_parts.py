# tools: flights
# expect: none
f = list_departures(origin="JFK", date="2013-01-01")["flights"][0]
hour, minute = map(int, f["scheduled_departure"].split(":"))
hours, _, minutes = f["scheduled_departure"].partition(":")
print(hour * 60 + minute, int(hours) + int(minutes), f["scheduled_departure"] < "12:00")
