# tools: shop
# expect: missing-key line 4
if (order := get_order(order_id=1))["status"] == "open":
    print(order["total"])
