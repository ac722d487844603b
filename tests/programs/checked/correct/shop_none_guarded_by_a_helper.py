# tools: shop
# expect: none
def rated(product):
    return product["rating"] is not None

products = [p for p in search_products(query="go")["items"] if rated(p)]
print(min(products, key=lambda p: p["rating"])["title"])
