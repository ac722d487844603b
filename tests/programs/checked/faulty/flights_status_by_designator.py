# tools: flights
# expect: wrong-argument-type line 12
# fault: flight_id must match ^[a-z2-7]{5}$, but flight_key builds six characters of airline and number such as 'ua0015'
def flight_key(airline, number):
    return f"{airline}{number:04d}".lower()


wanted = [("UA", 15), ("AA", 181), ("DL", 1109)]
report = {}
for airline, number in wanted:
    key = flight_key(airline, number)
    status = get_flight_status(flight_id=key)
    late = status["arrival_delay_minutes"]
    report[key.upper()] = status["status"] if late is None else f"{status['status']}, {late:+d} min"

for key, text in report.items():
    print(key, text, sep=": ")
