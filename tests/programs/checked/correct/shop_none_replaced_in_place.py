# tools: shop
# expect: none
orders = list_orders(customer_id=1)
for order in orders:
    order["delay_days"] = order["delay_days"] or 0
print(sum(order["delay_days"] for order in orders))
