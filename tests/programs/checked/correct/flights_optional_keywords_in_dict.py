# tools: flights
# expect: none
# why: arguments are collected in a dict and some removed again; only those that the tool has are passed
def departures(origin, date, *, airline=None, after=None, **more):
    options = {"airline": airline, "from_hour": after, "page_size": 200} | more
    options = {name: value for name, value in options.items() if value is not None}
    return list_departures(origin=origin, date=date, **options)["flights"]

morning = departures("LGA", "2013-10-01", after=6, to_hour=9)
delta = departures("LGA", "2013-10-01", airline="DL")
both = {f["flight_id"] for f in morning} & {f["flight_id"] for f in delta}
print(len(both))
for flight in filter(lambda f: f["flight_id"] in both, delta):
    print("{scheduled_departure} {airline}{flight_number:04d} {destination}".format(**flight))
