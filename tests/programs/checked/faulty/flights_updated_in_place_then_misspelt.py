# tools: flights
# kind: key of a response that another was merged into
# expect: missing-key line 6
flights = list_arrivals(destination="SFO", date="2013-08-05", origin="JFK", airline="VX")["flights"]
for flight in flights:
    flight |= {"late": flight["arrival_delay"]}
print(sum(flight["late"] for flight in flights))
