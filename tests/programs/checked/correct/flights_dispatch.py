# tools: flights
# expect: none
import operator

TESTS = {"late": operator.gt, "early": operator.lt}


def pick(rows, kind, limit=0):
    compare = TESTS[kind]
    for row in rows:
        minutes = row["departure_delay_minutes"]
        if minutes is not None and compare(minutes, limit):
            yield row["flight_id"], minutes


rows = list_departure_delays(origin="EWR", date="2013-03-08")["flights"]
for kind in TESTS:
    print(kind, dict(pick(rows, kind)))
