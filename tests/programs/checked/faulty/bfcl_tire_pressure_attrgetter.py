# tools: bfcl
# expect: no-attribute line 13
# expect: no-attribute line 13
# fault: The response is a dict; attrgetter reads attributes, and a dict has no attribute frontLeftTirePressure.
from operator import attrgetter

FRONT = ("frontLeftTirePressure", "frontRightTirePressure")
REAR = ("rearLeftTirePressure", "rearRightTirePressure")
TARGET = 32.0

tires = check_tire_pressure().get("tirePressure", {})
if all(key in tires for key in FRONT + REAR):
    values = dict(zip(FRONT + REAR, attrgetter(*FRONT, *REAR)(tires)))
    low = {name: psi for name, psi in values.items() if psi < TARGET}
    if low:
        shop = find_nearest_tire_shop().get("shopLocation", "an unknown place")
        print(f"{len(low)} tires are low; the nearest shop is at {shop}")
    else:
        print("All tires are fine.")
else:
    print("No tire readings.")
