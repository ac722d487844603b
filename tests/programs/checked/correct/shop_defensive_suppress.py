# tools: shop
# expect: none
from contextlib import suppress

order = get_order(order_id=1)
with suppress(KeyError, TypeError):
    print(order["tracking"]["url"])
print(order["status"])
