# tools: spotify
# kind: plain dict accumulator never seeded
# expect: missing-key line 8
plays = {}
recent = get_recently_played(limit=50)
for played in recent["items"]:
    who = played["track"]["artists"][0]["name"]
    plays[who] += 1
ranked = sorted(plays.items(), key=lambda pair: -pair[1])
print(ranked[:5])
