# tools: flights
# expect: positional-argument line 9
# fault: get_weather takes keyword arguments only, but *slot passes three positional ones
legs = list_plane_flights(tail_number="N711MQ", start_date="2013-12-01", page_size=20)["flights"]
slots = [(leg["origin"], leg["date"], int(leg["scheduled_departure"][:2])) for leg in legs]
rainy = 0
seen = dict.fromkeys(slots)
for slot in seen:
    weather = get_weather(*slot)
    rainy += weather["precipitation_inches"] > 0
print(f"Rain in {rainy} of {len(seen)} hours of departure")
