# tools: spotify
# expect: none
def describe(item):
    if item["type"] == "episode":
        return f"{item['show']['publisher']}: {item['name']}"
    artists = ", ".join(a["name"] for a in item["artists"])
    return f"{artists} - {item['name']} ({item['album']['name']})"

def clock(ms):
    minutes, seconds = divmod(ms // 1000, 60)
    return f"{minutes}:{seconds:02d}"

state = get_queue()
current, upcoming = state["currently_playing"], state["queue"]
print("Now:", describe(current))
left = sum(item["duration_ms"] for item in upcoming)
for n, item in enumerate(upcoming, 1):
    print(f"{n:>2}. {describe(item)} {clock(item['duration_ms'])}")
episodes = [i for i in upcoming if i["type"] == "episode" and not i["resume_point"]["fully_played"]]
if not episodes and left < 600_000:
    found = search(q="daily news", type=["episode"], limit=1)["episodes"]["items"]
    for episode in found:
        add_to_queue(uri=episode["uri"])
print(clock(left))
