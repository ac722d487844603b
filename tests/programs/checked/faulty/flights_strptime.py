# tools: flights
# kind: datetime arithmetic
# expect: missing-key line 7
from datetime import datetime

flight = get_flight(flight_id="a2b3c")
print(datetime.strptime(flight["departure_time"], "%H:%M").hour)
