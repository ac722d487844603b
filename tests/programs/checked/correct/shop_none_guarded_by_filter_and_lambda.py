# tools: shop
# expect: none
rated = filter(lambda p: p["rating"] is not None, search_products(query="go")["items"])
print(sorted(rated, key=lambda p: -p["rating"])[0]["title"])
