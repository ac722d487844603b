# tools: shop
# expect: none
number = next((o["order_id"] for o in list_orders(customer_id=1)), None)
if number is not None:
    print(get_order(order_id=number)["status"])
customer = get_customer(customer_id=1)
last = customer["last_order"]
print(get_order(order_id=last)["status"] if last else "none", get_order(order_id=customer["last_order"] or 1)["status"])
