# tools: spotify
# expect: none
devices = {d["name"]: d for d in get_a_users_available_devices()}
active = next((d for d in devices.values() if d["is_active"]), None)
playback = get_information_about_the_users_current_playback()
if active and playback["is_playing"]:
    item = playback["item"]
    done = playback["progress_ms"] / item["duration_ms"]
    if done > 0.9:
        skip_users_playback_to_next_track()
    elif playback["device"]["volume_percent"] > 60:
        set_volume_for_users_playback(volume_percent=max(0, active["volume_percent"] - 20))
    message = f"{item['name']} at {done:.0%} on {active['name']}"
else:
    recent = get_recently_played(limit=5)["items"]
    uris = list(dict.fromkeys(r["track"]["uri"] for r in recent))
    if uris:
        start_a_users_playback(uris=uris, position_ms=0)
    message = f"resumed {len(uris)} tracks on {', '.join(devices) or 'nothing'}"
print(message)
