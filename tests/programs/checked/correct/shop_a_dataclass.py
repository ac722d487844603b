# tools: shop
# expect: none
from dataclasses import dataclass, field

@dataclass
class Stat:
    city: str
    rooms: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, w: dict) -> "Stat":
        return cls(w["city"], [w["capacity"]])

stats = [Stat.of(w) for w in list_warehouses()]
stats.sort(key=lambda s: s.city)
print(stats[0].city, stats[0].rooms[0])
