# tools: shop
# expect: never-equal line 5
names = {w["code"]: w["city"] for w in list_warehouses()}
wanted = [o["customer_id"] for o in list_orders(customer_id=1)]
print([number for number in wanted if number in names])
