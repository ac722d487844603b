# tools: shop
# expect: wrong-unpacking line 4
order = get_order(order_id=2)
year, month, day = order["placed_at"].split("-", 1)
print(year, month, day)
