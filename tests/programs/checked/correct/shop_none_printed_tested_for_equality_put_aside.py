# tools: shop
# expect: none
for order in list_orders(customer_id=1):
    print(order["delay_days"], f"{order['shipping']['carrier']}", order["delay_days"] == 3, [order["notes"]])
