# tools: flights
# expect: none
from math import isclose
from statistics import mean

DAY, ORIGIN = "2013-06-13", "EWR"
weather = {f"{r['hour']:02d}": r for r in list_hourly_weather(airport=ORIGIN, date=DAY)}

delays = []
page = pages = 1
while page <= pages:
    part = list_departure_delays(origin=ORIGIN, date=DAY, min_delay_minutes=180, page=page)
    page, pages = part["page"] + 1, part["pages"]
    delays += part["flights"]

wet, dry = [], []
for row in delays[:10]:
    flight = get_flight(flight_id=row["flight_id"])
    reading = weather.get(flight["scheduled_departure"][:2])
    rain = reading["precipitation_inches"] if reading else 0.0
    (dry if isclose(rain, 0, abs_tol=1e-9) else wet).append(row["departure_delay_minutes"])

for label, values in zip(("wet", "dry"), (wet, dry), strict=True):
    print(label, f"{mean(values):.0f} min over {len(values)}" if values else "none")
