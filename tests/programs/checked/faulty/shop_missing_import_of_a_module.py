# tools: shop
# expect: undefined-name line 4
# says: import json
print(json.dumps(get_order(order_id=5)))
