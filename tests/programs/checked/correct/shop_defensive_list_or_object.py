# tools: shop
# expect: none
found = search_products(query="go")
items = found if isinstance(found, list) else found.get("items", [])
print(len(items), items[0]["title"] if items else "nothing")
