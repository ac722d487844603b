# tools: shop
# expect: none-value line 3
print(get_order(order_id=1)["shipping"]["carrier"].upper())
