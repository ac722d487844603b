# tools: shop
# expect: none
def pairs():
    for o in orders:
        yield o["order_id"], o["status"]

stream = pairs()
orders = list_orders(customer_id=1)
print(dict(stream))
