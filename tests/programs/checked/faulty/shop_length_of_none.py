# tools: shop
# expect: none-value line 3
print(len(get_order(order_id=1)["notes"]))
