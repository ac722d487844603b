# tools: places
# expect: not-an-object line 14
# fault: chain.from_iterable over page objects yields their keys (texts), not observations, so point["wind_kt"] indexes a string
from itertools import chain

candidates = search_storms(query="Mitch", season=1998)
if not candidates:
    raise SystemExit("no storm of that name")

sid = candidates[0]["storm_id"]
last_page = list_storm_track(storm_id=sid, page_size=50)["pages"]
sheets = [list_storm_track(storm_id=sid, page=n, page_size=50) for n in range(1, last_page + 1)]
points = list(chain.from_iterable(sheets))
hurricane_hours = 6 * sum(1 for point in points if point["wind_kt"] >= 64)
print(f"about {hurricane_hours} hours as a hurricane")
