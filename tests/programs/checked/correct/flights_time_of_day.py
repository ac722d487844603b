# tools: flights
# expect: none
from datetime import datetime, timedelta

flight = get_flight(flight_id="a2b3c")
leaves = datetime.strptime(f"{flight['date']} {flight['scheduled_departure']}", "%Y-%m-%d %H:%M")
arrives = datetime.strptime(f"{flight['date']} {flight['scheduled_arrival']}", "%Y-%m-%d %H:%M")
if arrives < leaves:
    arrives += timedelta(days=1)
hours, seconds = divmod((arrives - leaves).total_seconds(), 3600)
print(f"{int(hours)} h {int(seconds // 60)} min, {(leaves - timedelta(hours=2)):%H:%M} at the airport")
