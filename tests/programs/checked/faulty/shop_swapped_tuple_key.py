# tools: shop
# expect: never-equal line 5
held = {(l["sku"], l["quantity"]): l for l in get_order(order_id=5)["lines"]}
for l in get_order(order_id=6)["lines"]:
    if (l["quantity"], l["sku"]) in held:
        print("again", l["sku"])
