# tools: places
# expect: none
from functools import partial, reduce

near = partial(list_cities_near, latitude=48.2, longitude=16.4, min_population=100_000)
counts = [near(radius_km=radius)["total"] for radius in (50, 100, 200)]
add = partial(lambda a, b, c: a + b + c, 1, c=2)
print(counts, add(3), reduce(lambda a, b: {**a, b: len(a)}, ["x", "y"], {}))
by_name = {z["name"]: z["time_zone_id"] for z in list_country_time_zones(country_id="co_a2b3c")}
print(reduce(max, map(len, by_name)), reduce(lambda total, n: total + len(n), by_name, 0))
