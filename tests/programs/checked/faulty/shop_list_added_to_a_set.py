# tools: shop
# expect: unhashable line 5
seen = set()
for p in search_products(query="go")["items"]:
    seen.add(p["tags"])
print(seen)
