# tools: places
# expect: none
from datetime import datetime

durations = {}
for storm in list_season_storms(season=2017)[:8]:
    details = get_storm(storm_id=storm["storm_id"])
    begin, end = (datetime.fromisoformat(details[k]) for k in ("first_time", "last_time"))
    durations[storm["name"]] = (end - begin).total_seconds() / 3600
name, hours = sorted(durations.items(), key=lambda kv: kv[1])[-1]
days, rest = divmod(int(hours), 24)
print(f"{name} lived {days} days and {rest} hours, {begin.year=}")
