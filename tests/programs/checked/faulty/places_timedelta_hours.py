# tools: places
# kind: datetime arithmetic
# expect: no-attribute line 8
from datetime import datetime

storm = get_storm(storm_id="st_a2b3c")
lasted = datetime.fromisoformat(storm["last_time"]) - datetime.fromisoformat(storm["first_time"])
print(lasted.hours)
