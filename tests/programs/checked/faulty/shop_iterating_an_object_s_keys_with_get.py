# tools: shop
# expect: not-a-list line 5
# says: keys
found = search_products(query="chess")
for product in found:
    print(product.get("title"))
