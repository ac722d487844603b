# tools: shop
# expect: none
from functools import lru_cache

@lru_cache(maxsize=None)
def customer(number):
    return get_customer(customer_id=number)

print({customer(o["customer_id"])["name"] for o in list_orders(customer_id=1)})
