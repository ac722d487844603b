# tools: shop
# expect: none
print(max((o["delay_days"] or 0) for o in list_orders(customer_id=1)))
