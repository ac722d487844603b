# tools: shop
# expect: none
found = search_products(query="go")
items = found.get("results") or found.get("data") or found["items"]
print(len(items))
