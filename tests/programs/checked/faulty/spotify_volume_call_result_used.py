# tools: spotify
# expect: none-value line 12
# expect: none-value line 13
# fault: set_volume_for_users_playback returns None, so levels holds three times None and min(levels) compares None with None: TypeError.
def fade(*steps):
    levels = []
    for step in steps:
        levels.append(set_volume_for_users_playback(volume_percent=step))
    return levels

levels = fade(60, 40, 20)
quietest = min(levels)
if quietest <= 20:
    pause_a_users_playback()
    print(f"Paused at {quietest} percent")
