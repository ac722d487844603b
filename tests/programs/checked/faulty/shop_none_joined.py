# tools: shop
# expect: none-value line 3
print(", ".join(o["shipping"]["carrier"] for o in list_orders(customer_id=1)))
