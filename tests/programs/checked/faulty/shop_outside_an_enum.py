# tools: shop
# expect: bad-literal line 4
# says: 'shipped'
print(list_orders(customer_id=1, status="Shipped"))
