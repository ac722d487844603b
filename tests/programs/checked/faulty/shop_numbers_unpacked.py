# tools: shop
# expect: wrong-unpacking line 5
orders = list_orders(customer_id=1)
days = [o["shipping"]["days"] for o in orders]
for place, count in days:
    print(place, count)
