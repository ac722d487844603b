# tools: bfcl:vehicle_control
# kind: key one level too high, by loop variable
# expect: missing-key line 8
WHEELS = ("frontLeft", "frontRight", "rearLeft", "rearRight")
reading = check_tire_pressure()
low = []
for wheel in WHEELS:
    if reading[wheel + "TirePressure"] < 30:
        low.append(wheel)
if low:
    shop = find_nearest_tire_shop()["shopLocation"]
    set_navigation(destination=shop)
    print("Low:", *low, "->", shop)
else:
    print("All tires fine")
