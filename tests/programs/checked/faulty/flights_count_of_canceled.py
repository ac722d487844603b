# tools: flights
# expect: never-equal line 11
# fault: status is one of landed, diverted, cancelled; no element can equal 'canceled', so the count is always 0
codes = ["UA", "B6", "DL"]
statuses = (
    get_flight_status(flight_id=f["flight_id"])
    for code in codes
    for f in list_departures(origin="EWR", date="2013-01-30", airline=code, page_size=200)["flights"]
)
outcome = [s["status"] for s in statuses]
lost = outcome.count("canceled")
print(f"{lost} of {len(outcome)} flights did not leave")
