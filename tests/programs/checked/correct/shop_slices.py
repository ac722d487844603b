# tools: shop
# expect: none
orders = list_orders(customer_id=1)
print(orders[:2][0]["status"], orders[-1]["order_id"], orders[::-1][0]["lines"][1:], orders[0]["status"][:3], orders[0]["placed_at"][-1])
orders[0] = {"status": "x", "mine": 1}
orders[1:] = []
del orders[0]["mine"]
print(orders[0].get("mine"), len(orders))
