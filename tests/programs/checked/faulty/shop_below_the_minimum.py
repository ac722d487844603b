# tools: shop
# expect: bad-literal line 4
# says: at least 1
print(search_products(query="x", limit=0)["total"])
