# tools: shop
# expect: none-value line 5
total = 0
for order in list_orders(customer_id=1):
    total += order["delay_days"]
print(total)
