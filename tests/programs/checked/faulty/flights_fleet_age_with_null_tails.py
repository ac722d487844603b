# tools: flights
# expect: none-value line 9
# fault: tail_number of a departure may be null and goes untested from the set into get_plane, which takes only text
def fleet(origin, date, airline):
    page = list_departures(origin=origin, date=date, airline=airline, page_size=200)
    return {f["tail_number"] for f in page["flights"]}


planes = [get_plane(tail_number=tail) for tail in fleet("JFK", "2013-07-04", "B6")]
years = [p["year_built"] for p in planes if p["year_built"] is not None]
if years:
    print(f"{len(planes)} planes, built in {sum(years) / len(years):.1f} on average")
else:
    print("No years known")
