# tools: flights
# expect: not-an-object line 4
for airline in list_route_airlines(origin="JFK", destination="BOS"):
    print(airline["code"])
