# tools: shop
# expect: unknown-tool line 4
# says: search_products
found = search_product(query="chess")
print(found)
