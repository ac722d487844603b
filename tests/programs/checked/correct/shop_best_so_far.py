# tools: shop
# expect: none
best = None
for p in search_products(query="go")["items"]:
    if best is None or p["price"] < best["price"]:
        best = p
if best:
    print(best["title"], best["seller"]["kind"])
