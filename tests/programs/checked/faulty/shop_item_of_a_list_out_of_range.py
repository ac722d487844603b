# tools: shop
# expect: bad-literal line 4
# says: at least 1
print(create_order(customer_id=1, lines=[{"sku": "AB-1234", "quantity": 0}])["order_id"])
