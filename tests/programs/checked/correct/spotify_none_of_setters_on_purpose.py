# tools: spotify
# expect: none
# why: The tools for volume, repeat and skipping always return None, and just that is counted as success.
done = {
    "volume": set_volume_for_users_playback(volume_percent=35),
    "repeat": set_repeat_mode_on_users_playback(state="off"),
    "skip": skip_users_playback_to_next_track(),
}
fine = [name for name, result in done.items() if result is None]
state = get_information_about_the_users_current_playback()
device = state.get("device")
where = device.get("name") if device else None
print(f"{len(fine)}/{len(done)} changes made: {', '.join(fine)}")
print(f"playing on {where}" if where else "no active device")
