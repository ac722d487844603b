# tools: flights
# kind: whole-number keys looked up with text
# expect: missing-key line 14
from operator import itemgetter

DAY = "2013-06-13"
weather = {reading["hour"]: reading for reading in list_hourly_weather(airport="EWR", date=DAY)}
late = list_departure_delays(origin="EWR", date=DAY, min_delay_minutes=240)["flights"]

rows = []
for item in sorted(late, key=itemgetter("departure_delay_minutes"), reverse=True)[:5]:
    flight = get_flight(flight_id=item["flight_id"])
    hour = flight["scheduled_departure"][:2]
    reading = weather[hour]
    rows.append(
        f"{flight['airline']}{flight['flight_number']}: {item['departure_delay_minutes']} min, "
        f"rain {reading['precipitation_inches']} in, visibility {reading['visibility_miles']} mi"
    )
print("\n".join(rows))
