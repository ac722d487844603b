# tools: shop
# expect: none
o = list_orders(customer_id=1)
ids = [o["order_id"] for o in o]
print(ids, len(o), {k: v for k, v in zip("abc", ids)}["a"])
