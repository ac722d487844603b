# tools: flights
# expect: used-before-assignment line 15
# fault: found is set only if some airport lies above 5,000 ft; list_nearby_airports may give none that does (or none at all), and the name is then undefined.
CENTER = "DEN"
limit_ft = 5000
checked = 0
for near in list_nearby_airports(airport=CENTER, radius_km=250):
    checked += 1
    details = get_airport(airport=near["code"])
    if details["altitude_ft"] > limit_ft:
        found = details | {"km": near["distance_km"]}
        break

print(f"Checked {checked} airports around {CENTER}.")
print(f"Nearest above {limit_ft} ft: {found['name']} at {found['km']:.0f} km")
