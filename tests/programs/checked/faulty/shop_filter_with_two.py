# tools: shop
# expect: missing-argument line 8
def dear(product, limit):
    return product["price"] > limit


found = search_products(query="vase")["items"]
print([p["title"] for p in filter(dear, found)])
