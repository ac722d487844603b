# tools: shop
# expect: not-an-object line 4
for tag in get_product(sku="AB-1234")["tags"]:
    print(tag["name"])
