# tools: shop
# expect: none
found = list_orders(customer_id=1)
if type(found) is dict:
    found = found["orders"]
print(len(found))
