# tools: shop
# expect: bad-literal line 4
# says: 'quantity'
print(create_order(customer_id=1, lines=[{"sku": "AB-1234"}])["order_id"])
