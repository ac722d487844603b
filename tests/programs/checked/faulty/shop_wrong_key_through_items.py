# tools: shop
# expect: missing-key line 7
by_status = {}
for order in list_orders(customer_id=1):
    by_status.setdefault(order["status"], []).append(order)
for status, orders in by_status.items():
    print(status, [o["number"] for o in orders])
