# tools: shop
# expect: bad-literal line 4
# says: '2013-01-31'
print(list_orders(customer_id=1, since="31/01/2024"))
