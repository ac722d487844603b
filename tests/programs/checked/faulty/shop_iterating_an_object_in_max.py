# tools: shop
# expect: not-a-list line 5
# says: ['items']
found = search_products(query="chess")
print(max(found, key=lambda p: p["price"]))
