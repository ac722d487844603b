# tools: bfcl:vehicle_control
# kind: whole response passed where text is wanted
# expect: wrong-argument-type line 9
# expect: wrong-argument-type line 9
stops = ["San Francisco", "Rivermist", "Stonebrook"]
zips = [get_zipcode_based_on_city(city=c) for c in stops]
legs = []
for here, there in zip(zips, zips[1:]):
    leg = estimate_distance(cityA=here, cityB=there)
    legs.append(leg["distance"])
total = sum(legs)
feasible = estimate_drive_feasibility_by_mileage(distance=total)["canDrive"]
print(total, "miles;", "ok" if feasible else "refuel first")
