# tools: shop
# expect: missing-key line 3
print(sum(map(lambda l: l["price"], get_order(order_id=1)["lines"])))
