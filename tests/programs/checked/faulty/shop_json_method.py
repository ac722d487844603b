# tools: shop
# expect: no-attribute line 3
print(get_order(order_id=1).json()["status"])
