# tools: shop
# expect: unknown-argument line 4
# says: Did you mean 'order_id'
print(get_order(**{"id": 7})["status"])
