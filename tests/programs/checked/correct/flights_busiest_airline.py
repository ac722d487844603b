# tools: flights
# expect: none
from collections import Counter

flights, page = [], 1
while True:
    answer = list_departures(origin="JFK", date="2013-07-04", page=page, page_size=200)
    flights.extend(answer["flights"])
    if page == answer["pages"]:
        break
    page += 1
code, count = Counter(f["airline"] for f in flights).most_common(1)[0]
print(get_airline(airline=code)["name"], count)
