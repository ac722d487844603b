# tools: shop
# expect: none
query = {"query": "chess", "limit": 10}
if True:
    query["max_price"] = 20
found = search_products(**query)
print(found["total"])
