# tools: shop
# expect: missing-key line 4
# says: items
print(len(search_products(query="chess").get("products", [])))
