# tools: shop
# expect: bad-literal line 4
# says: at most 100
print(search_products(query="x", limit=500)["total"])
