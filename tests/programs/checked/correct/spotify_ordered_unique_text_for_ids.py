# tools: spotify
# expect: none
# why: dict.fromkeys keeps order and drops doubles; the dict itself is joined, which joins its keys, all text
def ids_of(tracks):
    return dict.fromkeys(t["id"] for t in tracks if t.get("id"))

recent = get_recently_played(limit=50).get("items", [])
seeds = ids_of(entry.get("track", {}) for entry in recent)
chosen = dict.fromkeys([*seeds][:5])

if chosen:
    answer = get_recommendations(limit=20, seed_tracks=",".join(chosen))
    fresh = [t for t in answer["tracks"] if t.get("id") not in seeds]
    pools = {s["id"]: s.get("initialPoolSize", 0) for s in answer["seeds"] if "id" in s}
    for t in sorted(fresh, key=lambda t: t.get("popularity", 0), reverse=True)[:3]:
        print(t.get("name", "?"), t.get("uri", ""))
    print("pool sizes", sorted(pools.values()), "of", sum(pools.values()))
else:
    print("No history to go by.")
