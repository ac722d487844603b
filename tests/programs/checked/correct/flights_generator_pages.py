# tools: flights
# expect: none
def pages_of(tool, key, **arguments):
    number = 1
    while True:
        page = tool(page=number, **arguments)
        yield from page[key]
        if page["page"] >= page["pages"]:
            return
        number += 1


cancelled = pages_of(list_cancelled_flights, "flights", date="2013-02-08", airline="US", page_size=20)
routes = {}
for n, flight in enumerate(cancelled, start=1):
    routes.setdefault((flight["origin"], flight["destination"]), []).append(flight["flight_number"])
(origin, destination), numbers = max(routes.items(), key=lambda item: (len(item[1]), item[0]))
print(f"{n} cancelled, most {origin}-{destination}: {', '.join(map(str, sorted(numbers)))}")
