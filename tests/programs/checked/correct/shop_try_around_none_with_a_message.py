# tools: shop
# expect: none
for order in list_orders(customer_id=1):
    try:
        print(order["delay_days"] + 1)
    except Exception as error:
        print("no delay known", error)
