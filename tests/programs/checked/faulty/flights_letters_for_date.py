# tools: flights
# expect: wrong-operand line 4
plan = get_flight(flight_id="abcde")
print(f"left on {plan['date']:%d %b} from {plan['origin']}")
