# tools: shop
# expect: none
print(sum(o["delay_days"] for o in list_orders(customer_id=1) if o["delay_days"]))
