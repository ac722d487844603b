# tools: flights
# kind: datetime arithmetic
# expect: wrong-operand line 7
from datetime import date

flight = get_flight(flight_id="a2b3c")
print(date.fromisoformat(flight["date"]) + 1)
