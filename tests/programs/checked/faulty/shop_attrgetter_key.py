# tools: shop
# expect: no-attribute line 4
from operator import attrgetter
for row in sorted(list_warehouses(), key=attrgetter("city")):
    print(row["city"])
