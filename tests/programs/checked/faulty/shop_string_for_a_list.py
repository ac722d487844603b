# tools: shop
# expect: bad-literal line 4
# says: ['fragile']
print(create_order(customer_id=1, lines=[{"sku": "AB-1234", "quantity": 1}], labels="fragile")["order_id"])
