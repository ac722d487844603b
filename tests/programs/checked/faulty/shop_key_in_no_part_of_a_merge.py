# tools: shop
# kind: a key that no part of a merged dict has
# expect: missing-key line 6
customer = get_customer(customer_id=1)
both = {**customer, **get_order(order_id=1), "note": "-"}
print(both.get("phone", "unknown"), both.get("status"), both.get("note", ""))
