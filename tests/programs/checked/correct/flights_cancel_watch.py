# tools: flights
# expect: none
watches = {watch["flight_id"]: watch for watch in list_watches()}
for flight in find_flights(airline="UA", flight_number=1545, date="2013-01-01"):
    if (watch := watches.get(flight["flight_id"])) is not None:
        removed = delete_watch(watch_id=watch["watch_id"])
        print("removed", removed["note"])
    else:
        print("watching", create_watch(flight_id=flight["flight_id"], note="connection")["watch_id"])
