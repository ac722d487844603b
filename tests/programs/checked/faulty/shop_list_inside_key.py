# tools: shop
# expect: unhashable line 7
# expect: unhashable line 8
seen = set()
for product in search_products(query="cup")["items"]:
    key = (product["title"], product["tags"])
    if key not in seen:
        seen.add(key)
print(len(seen))
