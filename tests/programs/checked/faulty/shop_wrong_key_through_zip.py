# tools: shop
# expect: missing-key line 6
orders = list_orders(customer_id=1)
others = list_warehouses()
for order, place in zip(orders, others):
    print(order["status"], place["address"])
