# tools: bfcl:vehicle_control
# expect: none
import re

def snake(name):
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()

status = displayCarStatus(option="doors")["status"]
doors = status["doorStatus"]
unlocked = [name for name, state in doors.items() if state != "locked"]
remaining = lockDoors(unlock=False, door=unlocked)["remainingUnlockedDoors"] if unlocked else 0
pressures = {
    snake(k): v
    for k, v in check_tire_pressure()["tirePressure"].items()
    if k.endswith("TirePressure")
}
worst = min(pressures, key=pressures.__getitem__)
checks = (
    ("doors", remaining == 0),
    ("tires", pressures[worst] >= 30),
    ("brake", activateParkingBrake(mode="engage")["_parkingBrakeForce"] > 0),
)
failed = [name for name, fine in checks if not fine]
print(", ".join(failed) if failed else "all fine", f"(lowest: {worst} {pressures[worst]})")
