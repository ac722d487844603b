# tools: shop
# expect: missing-key line 5
# says: The list is under 'items'
found = search_products(query="chess")
for product in found["results"]:
    print(product["title"])
