# tools: places
# kind: strptime format without the T
# expect: wrong-operand line 17
from datetime import datetime

storm = search_storms(query="Katrina", season=2005)[0]
track, page = [], 1
while True:
    part = list_storm_track(storm_id=storm["storm_id"], page=page, page_size=50)
    track.extend(part["observations"])
    if page >= part["pages"]:
        break
    page += 1

points = []
for point in track:
    when = datetime.strptime(point["time"], "%Y-%m-%d %H:%M")
    points.append((when, point["wind_kt"]))

rises = [
    ((b[1] - a[1]) / max((b[0] - a[0]).total_seconds() / 3600, 1), b[0])
    for a, b in zip(points, points[1:])
]
speed, when = max(rises)
print(f"{storm['name']} grew fastest at {when:%d %B %H:%M}: {speed:.1f} kt an hour")
