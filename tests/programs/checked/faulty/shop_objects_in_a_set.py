# tools: shop
# expect: unhashable line 3
print(len(set(list_orders(customer_id=1))))
