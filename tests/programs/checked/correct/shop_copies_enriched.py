# tools: shop
# expect: none
products = [{**p, "value": p["price"] * p["stock"]} for p in search_products(query="go")["items"]]
print(sorted(products, key=lambda p: p["value"])[0]["sku"])
