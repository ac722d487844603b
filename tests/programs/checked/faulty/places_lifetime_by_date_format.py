# tools: places
# expect: wrong-operand line 10
# fault: first_time and last_time have the form YYYY-MM-DDTHH:00, so strptime with "%Y-%m-%d" always fails.
from datetime import datetime

STAMP = "%Y-%m-%d"


def lifetime_days(storm):
    begin, end = (datetime.strptime(storm[k], STAMP) for k in ("first_time", "last_time"))
    return (end - begin).total_seconds() / 86400


longest = ("", 0.0)
for entry in list_season_storms(season=2017):
    days = lifetime_days(get_storm(storm_id=entry["storm_id"]))
    if days > longest[1]:
        longest = (entry["name"], days)
name, days = longest
print(f"Longest lived storm of 2017: {name or 'none'}, {days:.1f} days")
