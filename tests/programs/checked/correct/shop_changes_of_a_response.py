# tools: shop
# expect: none
order = get_order(order_id=1)
order["lines"].append({"sku": "X", "quantity": 1, "unit_price": 2, "new": True})
order["shipping"]["eta"] = "soon"
order.setdefault("tags", []).append("x")
order.update({"seen": True}, extra=1)
for line in order["lines"]:
    print(line.get("new"), line["sku"])
print(order["shipping"]["eta"], order["tags"][0], order["seen"], order["extra"])
