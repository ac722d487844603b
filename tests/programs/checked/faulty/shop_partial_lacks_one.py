# tools: shop
# expect: missing-argument line 11
from functools import partial


def label(order, prefix, width):
    return f"{prefix}{order['order_id']:>{width}}"


short = partial(label, prefix="#")
print([short(order) for order in list_orders(customer_id=4)])
