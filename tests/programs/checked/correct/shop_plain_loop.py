# tools: shop
# expect: none
for order in list_orders(customer_id=1):
    print(order["order_id"], order["status"], order["shipping"]["address"]["city"])
