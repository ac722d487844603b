# tools: shop
# expect: wrong-argument-type line 5
# says: ['customer_id']
for order in list_orders(customer_id=1):
    print(get_customer(customer_id=order)["name"])
