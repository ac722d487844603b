# tools: shop
# expect: unknown-argument line 4
# says: Did you mean 'query'
print(search_products(q="chess", limit=5)["total"])
