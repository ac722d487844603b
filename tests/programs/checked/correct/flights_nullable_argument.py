# tools: flights
# expect: none
for f in list_departures(origin="JFK", date="2013-01-01")["flights"][:5]:
    if f["tail_number"]:
        plane = get_plane(tail_number=f["tail_number"])
        print(plane["model"], plane["year_built"] or "unknown")
    try:
        print(get_plane(tail_number=f["tail_number"])["seats"])
    except ToolError as error:
        print(error.status, error.body)
