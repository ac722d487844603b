# tools: flights
# expect: none
# why: nullable tail numbers are gathered in a set, None is taken out by discard, and null years by filter(None, ...)
tails = {
    f["tail_number"]
    for origin in ("EWR", "JFK", "LGA")
    for f in list_departures(origin=origin, date="2013-12-24", airline="WN", page_size=200)["flights"]
}
tails.discard(None)
planes = list(map(lambda tail: get_plane(tail_number=tail), tails))
known = list(filter(None, (p["year_built"] for p in planes)))
print(f"{len(planes)} planes:", f"{sum(known) / len(known):.1f}" if known else "no years known")
