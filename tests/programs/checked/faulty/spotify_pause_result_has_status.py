# tools: spotify
# expect: none-value line 9
# fault: pause_a_users_playback always returns None, and None has no method get.
state = get_information_about_the_users_current_playback()
if state.get("is_playing"):
    outcome = pause_a_users_playback()
    position = state.get("progress_ms")
    seconds = position // 1000 if position is not None else 0
    if outcome.get("status", 204) == 204:
        print(f"Paused after {seconds // 60}:{seconds % 60:02d}.")
    else:
        print("Could not pause.")
else:
    print("Nothing was playing.")
