# tools: places
# kind: heapq
# expect: missing-key line 7
import heapq

cities = list_cities_near(latitude=40.7, longitude=-74.0, radius_km=100)["cities"]
print(heapq.nsmallest(3, cities, key=lambda c: c["distance"]))
