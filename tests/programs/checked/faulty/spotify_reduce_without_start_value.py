# tools: spotify
# expect: wrong-operand line 10
# fault: without an initial value reduce starts with the first track, a dict, and a dict plus a number raises TypeError.
from functools import reduce

def minutes(tracks):
    timed = [t for t in tracks if "duration_ms" in t]
    if len(timed) < 2:
        return None
    total = reduce(lambda acc, track: acc + track["duration_ms"], timed)
    return total / 60_000

page = get_an_albums_tracks(id="2up3OPMp9Tb4dAKM2erWXQ", limit=50)
length = minutes(page["items"])
print("unknown" if length is None else f"{length:.1f} minutes")
