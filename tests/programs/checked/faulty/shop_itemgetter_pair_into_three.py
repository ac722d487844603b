# tools: shop
# expect: wrong-unpacking line 5
from operator import itemgetter
lines = get_order(order_id=3)["lines"]
for sku, count, price in map(itemgetter("sku", "quantity"), lines):
    print(sku, count * price)
