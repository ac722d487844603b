# tools: bfcl:vehicle_control
# expect: none
from itertools import pairwise, accumulate

stops = ["Rivermist", "Stonebrook", "Crescent Hollow", "Autumnville"]
codes = {city: get_zipcode_based_on_city(city=city)["zipcode"] for city in stops}
legs = [
    estimate_distance(cityA=codes[a], cityB=codes[b])["distance"]
    for a, b in pairwise(stops)
]
marks = list(accumulate(legs, initial=0))
width = max(map(len, stops)) + 2
for city, mark in zip(stops, marks):
    print(city.ljust(width, "."), f"{mark:.0f} km")
tank = displayCarStatus(option="fuel")["status"]["fuelLevel"]
while not estimate_drive_feasibility_by_mileage(distance=marks[-1] / 1.609)["canDrive"] and tank < 50:
    before, tank = tank, fillFuelTank(fuelAmount=min(5.0, 50 - tank))["fuelLevel"]
    if tank <= before:
        break
print(round(tank, 1))
