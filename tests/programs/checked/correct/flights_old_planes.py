# tools: flights
# expect: none
from dataclasses import dataclass, field


@dataclass(order=True)
class Plane:
    year: int
    tail: str = field(compare=False)
    maker: str = field(default="?", compare=False)


planes = []
for item in search_planes(manufacturer="boeing", max_year=1970)["planes"]:
    details = get_plane(tail_number=item["tail_number"])
    if details["year_built"]:
        planes.append(Plane(details["year_built"], item["tail_number"], details["manufacturer"].title()))
for plane in sorted(planes)[:3]:
    print(plane.year, plane.tail, plane.maker)
