# tools: shop
# expect: wrong-argument-type line 5
# says: pattern
for sku in ["one", "two"]:
    print(get_product(sku=sku)["title"])
