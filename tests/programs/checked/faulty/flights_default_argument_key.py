# tools: flights
# kind: functions of the program
# expect: missing-key line 5
def earliest(flights, key="departure_time"):
    return min(flights, key=lambda flight: flight[key])


print(earliest(list_departures(origin="JFK", date="2013-06-06")["flights"])["flight_id"])
