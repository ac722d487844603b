# tools: shop
# expect: missing-key line 7
names = {}
for customer in list_customers():
    names[str(customer["customer_id"])] = customer["name"]
order = get_order(order_id=5)
print(names.get(order["customer_id"], "nobody"))
