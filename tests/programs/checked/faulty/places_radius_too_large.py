# tools: places
# kind: range
# expect: bad-literal line 9
def around(latitude, longitude, radius):
    return list_cities_near(latitude=latitude, longitude=longitude, radius_km=radius)["cities"]


print(len(around(52.5, 13.4, 100)))
near = list_airfields_near(latitude=52.5, longitude=13.4, radius_km=500)
print(near["total"])
