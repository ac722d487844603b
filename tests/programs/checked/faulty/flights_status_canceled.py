# tools: flights
# kind: American spelling of an enum value
# expect: never-equal line 6
def outcome(flight_id):
    state = get_flight_status(flight_id=flight_id)
    if state["status"] == "canceled":
        return "cancelled", None
    return state["status"], state["arrival_delay_minutes"]


arrivals = list_arrivals(destination="BOS", date="2013-02-09", page_size=15)["flights"]
outcomes = [(f["airline"] + str(f["flight_number"]), *outcome(f["flight_id"])) for f in arrivals]

gone = [label for label, status, _ in outcomes if status == "cancelled"]
late = [(delay, label) for label, _, delay in outcomes if delay is not None and delay > 15]
print(f"{len(gone)} cancelled, {len(late)} late")
for delay, label in sorted(late, reverse=True)[:3]:
    print(f"  {label}: {delay} min")
