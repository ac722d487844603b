# tools: shop
# expect: none
seen, unique = set(), []
for o in list_orders(customer_id=1):
    key = (o["customer_id"], o["status"])
    if key not in seen:
        seen.add(key)
        unique.append(o)
if "x" not in seen:
    print(len(unique), unique[0]["order_id"] if unique else None)
