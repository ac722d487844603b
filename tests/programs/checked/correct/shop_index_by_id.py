# tools: shop
# expect: none
by_sku = {p["sku"]: p for p in search_products(query="go")["items"]}
for line in get_order(order_id=1)["lines"]:
    product = by_sku.get(line["sku"])
    if product:
        print(product["title"], line["quantity"])
    elif line["sku"] in by_sku:
        print(by_sku[line["sku"]]["price"])
