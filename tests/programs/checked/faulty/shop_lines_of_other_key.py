# tools: shop
# expect: wrong-argument-type line 8
lines = []
for product in search_products(query="pen")["items"]:
    entry = {"sku": product["sku"]}
    entry["amount"] = 1
    lines.append(entry)
print(create_order(customer_id=1, lines=lines)["order_id"])
