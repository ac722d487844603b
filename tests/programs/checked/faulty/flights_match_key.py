# tools: flights
# kind: match statements
# expect: missing-key line 5
match get_flight_status(flight_id="a2b3c"):
    case {"state": state}:
        print(state)
    case _:
        print("unknown")
