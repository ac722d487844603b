# tools: shop
# expect: unknown-argument line 5
common = {"query": "lamp", "limit": 10}
for page in (1, 2):
    print(search_products(**(common | {"page": page}))["total"])
