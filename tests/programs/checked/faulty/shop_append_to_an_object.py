# tools: shop
# expect: no-attribute line 4
found = search_products(query="chess")
found.append(search_products(query="go"))
print(found)
