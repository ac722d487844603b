# tools: shop
# expect: none
import json
order = get_order(order_id=1)
again = json.loads(json.dumps(order))
print(again["totals"]["anything"], str(order)[:20], repr(order).count("sku"), len(json.dumps(order)))
