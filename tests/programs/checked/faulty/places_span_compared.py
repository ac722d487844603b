# tools: places
# kind: datetime arithmetic
# expect: wrong-operand line 8
from datetime import datetime

storm = get_storm(storm_id="st_a2b3c")
first, last = (datetime.strptime(storm[k], "%Y-%m-%dT%H:%M") for k in ("first_time", "last_time"))
if last - first > 5:
    print("long")
