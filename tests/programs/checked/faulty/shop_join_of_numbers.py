# tools: shop
# expect: wrong-operand line 3
print(", ".join(o["order_id"] for o in list_orders(customer_id=1)))
