# tools: shop
# expect: not-a-list line 6
from itertools import groupby
rows = sorted(list_warehouses(), key=lambda w: w["city"])
for city, group in groupby(rows, key=lambda w: w["city"]):
    print(city, group[0]["code"])
