# tools: shop
# expect: wrong-operand line 3
print(list_orders(customer_id=1) > 3)
