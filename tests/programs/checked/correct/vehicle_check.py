# tools: bfcl:vehicle_control
# expect: none
status = displayCarStatus(option="doors")["status"]
doors = status.get("doorStatus") or {}
unlocked = [name for name, state in doors.items() if state == "unlocked"]
if unlocked:
    print(lockDoors(unlock=False, door=unlocked)["remainingUnlockedDoors"])
pressures = check_tire_pressure()["tirePressure"]
low = {k: v for k, v in pressures.items() if k.endswith("TirePressure") and v < 32}
print(low, pressures["healthy_tire_pressure"])
gallons = liter_to_gallon(liter=30)["gallon"]
print(f"{fillFuelTank(fuelAmount=gallons)['fuelLevel']:.2f}" if gallons < 10 else "enough")
