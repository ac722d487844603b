# tools: shop
# expect: unhashable line 11
from functools import lru_cache


@lru_cache
def worth(order):
    return sum(l["quantity"] * l["unit_price"] for l in order["lines"])


print(sum(worth(order) for order in list_orders(customer_id=1)))
