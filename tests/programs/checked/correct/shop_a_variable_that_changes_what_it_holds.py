# tools: shop
# expect: none
data = search_products(query="go")
data = data["items"]
data = data[0] if data else None
if data is not None:
    data = data["seller"]
    print(data["kind"])
