# tools: shop
# expect: missing-key line 5
stats = {"open": 0, "paid": 0}
for order in list_orders(customer_id=1):
    stats["shipped"] += 1
print(stats)
