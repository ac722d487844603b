# tools: flights
# expect: none
import asyncio

codes = list_destinations(origin="EWR")[:5]
airports = await asyncio.gather(*(asyncio.to_thread(get_airport, airport=code) for code in codes))
by_code = dict(zip(codes, airports))
highest = max(by_code, key=lambda code: by_code[code]["altitude_ft"])
print(highest, by_code[highest]["name"], by_code[highest].get("time_zone") or "unknown zone")
