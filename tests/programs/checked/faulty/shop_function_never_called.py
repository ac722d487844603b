# tools: shop
# expect: no-output line 3
def answer():
    return len(list_orders(customer_id=1))
