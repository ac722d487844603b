# tools: shop
# expect: doubled-argument line 5
def search(query, **more):
    options = {"limit": 5, **more}
    return search_products(query=query, limit=10, **options)["items"]


print(len(search("desk", max_price=20)))
