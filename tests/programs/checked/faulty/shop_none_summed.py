# tools: shop
# expect: none-value line 3
print(sum(o["delay_days"] for o in list_orders(customer_id=1)))
