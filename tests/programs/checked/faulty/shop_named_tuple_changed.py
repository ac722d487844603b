# tools: shop
# expect: wrong-operand line 13
from typing import NamedTuple


class Row(NamedTuple):
    code: str
    free: int


rows = [Row(w["code"], w["capacity"]) for w in list_warehouses()]
for row in rows:
    row.free -= 10
print(rows)
