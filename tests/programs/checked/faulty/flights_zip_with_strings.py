# tools: flights
# kind: zip
# expect: missing-key line 7
origins = ["EWR", "JFK"]
pages = [list_departures(origin=origin, date="2013-09-01") for origin in origins]
for origin, page in zip(origins, pages, strict=True):
    print(origin, page["count"])
