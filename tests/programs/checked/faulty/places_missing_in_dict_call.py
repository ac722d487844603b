# tools: places
# kind: star and double-star unpacking
# expect: missing-argument line 5
here = {"latitude": 51.5, "longitude": -0.1}
print(list_cities_near(**here)["total"])
