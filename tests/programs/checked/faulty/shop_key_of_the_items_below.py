# tools: shop
# expect: missing-key line 4
# says: each item of 'items'
print(search_products(query="chess")["title"])
