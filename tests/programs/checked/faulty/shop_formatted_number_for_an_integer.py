# tools: shop
# expect: wrong-argument-type line 5
# says: must be an integer
for number in range(3):
    print(get_order(order_id=f"{number}")["status"])
