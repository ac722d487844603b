# tools: shop
# expect: none
total = 0
for order in list_orders(customer_id=1):
    try:
        total += order["delay_days"]
    except TypeError:
        pass
print(total)
