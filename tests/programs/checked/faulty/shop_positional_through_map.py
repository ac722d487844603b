# tools: shop
# expect: positional-argument line 4
# says: by name only
print([o["status"] for o in map(get_order, [1, 2, 3])])
