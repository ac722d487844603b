# tools: spotify
# expect: wrong-argument-type line 10
# fault: after takes an integer (Unix milliseconds), but midnight.isoformat() is text.
from datetime import datetime, timedelta, timezone

now = datetime.now(timezone.utc)
midnight = (now - timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
since = midnight.isoformat()

history = get_recently_played(limit=50, after=since)
names = {}
for entry in history.get("items", []):
    title = entry.get("track", {}).get("name")
    if title:
        names[title] = names.get(title, 0) + 1
for title, plays in sorted(names.items(), key=lambda x: (-x[1], x[0])):
    print(plays, title)
