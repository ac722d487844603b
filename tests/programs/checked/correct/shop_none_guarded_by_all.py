# tools: shop
# expect: none
orders = list_orders(customer_id=1)
if all(o["delay_days"] is not None for o in orders):
    print(sum(o["delay_days"] for o in orders))
