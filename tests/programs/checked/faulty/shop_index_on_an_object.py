# tools: shop
# expect: not-a-list line 4
# says: ['items']
print(search_products(query="chess")[0]["title"])
