# tools: shop
# expect: bad-literal line 4
# says: at least 0
print(search_products(query="x", max_price=-1.5)["total"])
