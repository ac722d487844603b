# tools: shop
# expect: not-a-list line 4
# says: ['items']
print([p["title"] for p in search_products(query="chess")])
