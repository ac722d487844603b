# tools: flights
# expect: none
# why: cells start as None and are tested; min has a default; str.format with a starred tuple and the codes .0f and 02d
grid = {airport: dict.fromkeys(range(24)) for airport in ("EWR", "JFK", "LGA")}
for airport, cells in grid.items():
    for reading in list_hourly_weather(airport=airport, date="2013-03-08"):
        cells[reading["hour"]] = reading["temperature_f"]

for airport, cells in grid.items():
    low = min(((t, h) for h, t in cells.items() if t is not None), default=None)
    print(airport, "no readings" if low is None else "{0:.0f} F at {1:02d}:00".format(*low))
