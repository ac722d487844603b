# tools: flights
# kind: match statements
# expect: never-equal line 8
status = get_flight_status(flight_id="a2b3c")
match status["status"]:
    case "landed":
        print("fine")
    case "canceled":
        print("not flown")
