# tools: places
# expect: none
from collections import Counter
from datetime import datetime, timedelta, timezone

days = Counter()
start = datetime(2005, 8, 23, tzinfo=timezone.utc)
for n in range(3):
    day = (start + n * timedelta(days=1)).date()
    for storm_id in list_active_storms(date=str(day)):
        storm = get_storm(storm_id=storm_id)
        first = datetime.fromisoformat(storm["first_time"]).replace(tzinfo=timezone.utc)
        days[storm["name"]] += max((start - first).days, 0)
print(days.most_common(2), sum(days.values()), f"{start:%d %b}", start.isoformat()[:10], (start.year, start.month))
