# tools: shop
# expect: missing-key line 4
from operator import itemgetter
take = itemgetter("sku", "qty", "unit_price")
for line in get_order(order_id=3)["lines"]:
    sku, count, price = take(line)
    print(sku, count * price)
