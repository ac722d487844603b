# tools: shop
# expect: unknown-argument line 5
# says: Did you mean 'query'
arguments = {"q": "chess", "limit": 5}
print(search_products(**arguments)["total"])
