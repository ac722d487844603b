# tools: shop
# expect: positional-argument line 5
orders = list_orders(customer_id=4)
if orders:
    print(min(orders, key=lambda: "placed_at")["order_id"])
