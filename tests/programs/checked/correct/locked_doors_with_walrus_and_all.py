# tools: bfcl
# expect: none
# why: optional nested objects are read through chained .get with empty dicts; left exists only in one branch but is read only behind 'not still_open or', and the walrus in the tuple given to all() always runs
DOORS = {"driver": "driver", "passenger": "passenger", "rear_left": "rear left", "rear_right": "rear right"}

doors = displayCarStatus(option="doors").get("status", {}).get("doorStatus", {})
still_open = [key for key in DOORS if doors.get(key, "locked") != "locked"]

if still_open:
    outcome = lockDoors(unlock=False, door=still_open)
    left = outcome.get("remainingUnlockedDoors", len(still_open))
    print(f"locked {len(still_open) - left} of {len(still_open)}: " + ", ".join(map(DOORS.get, still_open)))
ready = all((
    not still_open or left == 0,
    (brake := pressBrakePedal(pedalPosition=1)).get("brakePedalStatus") == "pressed",
))
engine = startEngine(ignitionMode="START") if ready else {}
print(engine.get("engineState", "stopped"), f"{engine.get('fuelLevel', 0.0):.1f} gal", brake.get("brakePedalForce", "?"))
