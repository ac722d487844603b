# tools: flights
# expect: wrong-operand line 6
from datetime import datetime

plan = get_flight(flight_id="abcde")
left = datetime.strptime(plan["scheduled_departure"], "%H:%M:%S")
print(left.hour)
