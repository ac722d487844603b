# tools: shop
# expect: undefined-name line 4
# says: from collections import Counter
print(Counter(o["status"] for o in list_orders(customer_id=1)))
