# tools: spotify
# expect: no-attribute line 21
# fault: The NamedTuple's field is called volume; it has no attribute volume_percent, as the response has.
from typing import NamedTuple


class Player(NamedTuple):
    name: str
    kind: str
    volume: int
    active: bool


players = [
    Player(d.get("name", "?"), d.get("type", "?"), d.get("volume_percent") or 0, d.get("is_active", False))
    for d in get_a_users_available_devices()
]
active = next((p for p in players if p.active), None)
if active is None:
    print(f"None of {len(players)} devices is active.")
elif active.volume_percent > 60:
    set_volume_for_users_playback(volume_percent=60)
    print(f"Turned {active.name} down to 60.")
else:
    print(f"{active.name} is quiet enough.")
