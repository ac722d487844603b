# tools: shop
# expect: wrong-operand line 3
print(sorted(list_orders(customer_id=1), key=lambda o: o["shipping"])[0]["status"])
