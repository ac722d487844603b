# tools: places
# expect: wrong-operand line 10
# fault: first_time and last_time have the form YYYY-MM-DDTHH:00 without seconds, so strptime with %H:%M:%S raises ValueError.
from datetime import datetime

STAMP = "%Y-%m-%dT%H:%M:%S"


def lifetime(storm):
    begin, end = (datetime.strptime(storm[k], STAMP) for k in ("first_time", "last_time"))
    return end - begin


longest = None
for item in list_season_storms(season=2012):
    storm = get_storm(storm_id=item["storm_id"])
    span = lifetime(storm)
    if longest is None or span > longest[0]:
        longest = (span, storm["name"])

print(f"{longest[1]}: {longest[0].days} days" if longest else "No storms")
