# tools: flights
# expect: none
def departures(**query):
    page = 1
    while True:
        answer = list_departures(page=page, **query)
        yield from answer["flights"]
        if page >= answer["pages"]:
            return
        page += 1

print(sum(1 for f in departures(origin="LGA", date="2013-03-05") if f["airline"] == "DL"))
