# tools: shop
# expect: wrong-argument-type line 5
# says: ['sku']
found = search_products(query="chess")["items"]
print(get_product(sku=found[0])["title"])
