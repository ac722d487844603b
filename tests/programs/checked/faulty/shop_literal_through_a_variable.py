# tools: shop
# expect: wrong-argument-type line 5
# says: one of
status = "delivered"
print(list_orders(customer_id=1, status=status))
