# tools: places
# expect: none
# why: a dataclass is built by ** from a whole response; its fields are exactly the keys of a time zone, so the constructor accepts it.
from dataclasses import dataclass, field


@dataclass(frozen=True, order=True)
class Zone:
    name: str
    time_zone_id: str = field(compare=False)

    @property
    def area(self):
        head, _, _ = self.name.partition("/")
        return head


zones = set()
for query in ("Portugal", "Spain"):
    for country in search_countries(query=query, limit=1):
        zones.update(Zone(**z) for z in list_country_time_zones(country_id=country["country_id"]))

for zone in sorted(zones):
    page = list_cities_in_time_zone(time_zone_id=zone.time_zone_id, min_population=100_000)
    print(f"{zone.area}: {zone.name} has {page['total']} big cities")
print(len(zones), "zones")
