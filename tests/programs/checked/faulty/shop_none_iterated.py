# tools: shop
# expect: none-value line 3
for note in get_order(order_id=1)["notes"]:
    print(note)
