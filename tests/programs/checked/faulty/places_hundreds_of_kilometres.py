# tools: places
# expect: bad-literal line 6
start = 100
for step in range(4):
    print(step)
    print(list_cities_near(latitude=30, longitude=-90, radius_km=start * (step + 1))["total"])
