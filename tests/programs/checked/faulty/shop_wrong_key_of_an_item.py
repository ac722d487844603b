# tools: shop
# expect: missing-key line 5
# says: Did you mean 'title'
for product in search_products(query="chess")["items"]:
    print(product["titel"])
