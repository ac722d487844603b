# tools: places
# kind: range
# expect: wrong-argument-type line 5
def passages(longitude, latitude=95.0):
    return list_storms_near(latitude=latitude, longitude=longitude, radius_km=50)["storms"]


print(passages(-80.2))
