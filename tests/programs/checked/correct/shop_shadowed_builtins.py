# tools: shop
# expect: none
list = [o["order_id"] for o in list_orders(customer_id=1)]
sum = 0
for id in list:
    sum += id
print(sum, len(list))
