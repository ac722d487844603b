# tools: flights
# expect: wrong-operand line 5
plan = get_flight(flight_id="abcde")
line = "{} {:03d}"
print(line.format(plan["date"], plan["origin"]))
