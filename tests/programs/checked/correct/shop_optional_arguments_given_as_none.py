# tools: shop
# expect: none
cursor = None
print(search_products(query="go", category=None, cursor=cursor)["total"])
