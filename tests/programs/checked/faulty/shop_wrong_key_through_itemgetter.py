# tools: shop
# expect: missing-key line 4
from operator import itemgetter
print(max(list_warehouses(), key=itemgetter("size"))["city"])
