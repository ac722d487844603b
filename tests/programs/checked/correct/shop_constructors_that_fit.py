# tools: shop
# expect: none
from dataclasses import dataclass, field
from typing import NamedTuple, Optional
from collections import namedtuple
@dataclass
class A:
    x: int
    y: int = 0
    z: list = field(default_factory=list)
    w: Optional[str] = None
    def m(self): return self.x
@dataclass
class B(A):
    v: int = 3
class T(NamedTuple):
    a: int
    b: str = "x"
N = namedtuple("N", ["p", "q"])
print(A(1), A(1, 2, []), A(x=1, w="s"), B(1, v=2), B(1, 2, [], None, 4), T(1), T(1, b="y"), N(1, 2), N(p=1, q=2), N(*[1, 2]), A(**{"x": 1}), T._make([1, "x"]))
print(get_order(order_id=1)["status"])
try:
    A()
except TypeError:
    print("no")
