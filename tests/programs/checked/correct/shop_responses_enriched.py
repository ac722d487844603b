# tools: shop
# expect: none
products = search_products(query="go")["items"]
for p in products:
    p["value"] = p["price"] * p["stock"]
print(max(products, key=lambda p: p["value"])["title"])
