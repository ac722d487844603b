# tools: shop
# expect: none
from collections import namedtuple
from enum import Enum
from typing import NamedTuple

class Size(Enum):
    SMALL = 1
    BIG = 2

Point = namedtuple("Point", "x y")

class Row(NamedTuple):
    city: str
    room: int

rows = [Row(w["city"], w["capacity"]) for w in list_warehouses()]
print(rows[0].city, rows[0][1] + 1, Size.BIG.name, Point(1, 2).x, max(rows, key=lambda r: r.room).city)
