# tools: shop
# expect: bad-literal line 4
# says: one of 'books', 'games', 'tools'
print(search_products(query="x", category="furniture")["total"])
