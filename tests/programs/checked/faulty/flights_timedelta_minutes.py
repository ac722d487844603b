# tools: flights
# kind: datetime arithmetic
# expect: no-attribute line 9
from datetime import datetime

flight = get_flight(flight_id="a2b3c")
left = datetime.fromisoformat(f"{flight['date']}T{flight['scheduled_departure']}")
landed = datetime.fromisoformat(f"{flight['date']}T{flight['scheduled_arrival']}")
print((landed - left).minutes)
