# tools: shop
# expect: none
for order in list_orders(customer_id=1):
    if order["status"] == "shipped":
        print(order["shipping"]["carrier"], order["delay_days"] + 1)
