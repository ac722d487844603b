# tools: shop
# expect: missing-key line 4
# says: unit_price
print(sum(line["price"] for line in get_order(order_id=1)["lines"]))
