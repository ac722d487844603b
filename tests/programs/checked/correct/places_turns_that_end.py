# tools: places
# expect: none
def first_hit(latitude, longitude):
    for radius in (100, 200, 300, 600):
        found = list_cities_near(latitude=latitude, longitude=longitude, radius_km=radius)
        if found["total"]:
            return found["cities"]
    return []


radius = 50
rows = []
while not rows and radius <= 300:
    rows = list(list_cities_near(latitude=30, longitude=-90, radius_km=radius)["cities"])
    radius *= 2
wide = 500
for name in ("Miami", "Tampa"):
    try:
        rows += list_cities_near(latitude=27, longitude=-80, radius_km=wide if name == "nowhere" else 100)["cities"]
    except ToolError:
        print("none near", name)


def around(wide):
    if wide > 300:
        wide = 300
    return list_cities_near(latitude=27, longitude=-80, radius_km=wide)["cities"]


for kilometres in (100, 400):
    rows += around(kilometres)
queue = [100, 200, 900]
while queue:
    kilometres = queue.pop()
    if kilometres > 300:
        continue
    rows += list_cities_near(latitude=27, longitude=-80, radius_km=kilometres)["cities"]
print(len(rows), first_hit(30, -90))
