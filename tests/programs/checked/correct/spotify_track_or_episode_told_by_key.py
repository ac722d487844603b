# tools: spotify
# expect: none
# why: The item is a track or an episode; show and publisher are used only after `"show" in item` has told that it is an episode.
state = get_the_users_currently_playing_track(additional_types="track,episode")
item = state.get("item")
progress = state.get("progress_ms") or 0
if item is None:
    text = "Nothing is playing."
elif "show" in item:
    text = f"Episode {item['name']} of {item['show']['name']} ({item['show']['publisher']})"
else:
    by = ", ".join(a["name"] for a in item.get("artists", []) if "name" in a)
    text = f"{item.get('name', 'untitled')} by {by or 'unknown'}"
    if (length := item.get("duration_ms")) and progress <= length:
        text += f", {progress / length:.0%} played"
print(text)
