# tools: shop
# expect: none
cache = {}
def product(sku):
    found = cache.get(sku)
    if found is None:
        found = cache[sku] = get_product(sku=sku)
    return found

print(sum(product(l["sku"])["price"] for l in get_order(order_id=1)["lines"]))
