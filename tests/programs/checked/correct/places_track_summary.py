# tools: places
# expect: none
from datetime import datetime, timedelta
from itertools import groupby, pairwise
from typing import NamedTuple


class Point(NamedTuple):
    when: datetime
    wind: int


def track(storm_id):
    page = 1
    while (part := list_storm_track(storm_id=storm_id, page=page, page_size=60))["observations"]:
        for o in part["observations"]:
            yield Point(datetime.strptime(o["time"], "%Y-%m-%dT%H:%M"), o["wind_kt"])
        if page == part["pages"]:
            break
        page += 1


storm = search_storms(query="andrew", season=1992, limit=1)[0]
points = list(track(storm["storm_id"]))
gaps = [b.when - a.when for a, b in pairwise(points)]
longest = max(gaps, default=timedelta())
by_day = {day.isoformat(): max(p.wind for p in group) for day, group in groupby(points, key=lambda p: p[0].date())}
peak_day = max(by_day, key=by_day.get)
print(f"{storm['name']} peaked on {peak_day} with {by_day[peak_day]} kt; longest gap {longest.total_seconds() / 3600:g} h")
