# tools: spotify
# expect: none
# why: queue items are tracks or episodes; the key show exists in episodes alone and is tested with in
def label(thing):
    if "show" in thing:
        return f"[{thing['show']['publisher']}] {thing['name']}"
    names = [a["name"] for a in thing.get("artists", []) if "name" in a]
    return " & ".join(names) + ": " + thing.get("name", "?")

state = get_queue()
waiting = state.get("queue", [])
length = sum(t.get("duration_ms", 0) for t in waiting)
for number, thing in enumerate(waiting[:10], 1):
    print(f"{number:>2} {label(thing)}")
hours, rest = divmod(length // 1000, 3600)
print(f"{hours}h {rest // 60:02}m in {len(waiting)} items")
