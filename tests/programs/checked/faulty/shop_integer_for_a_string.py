# tools: shop
# expect: bad-literal line 4
# says: must be a string
print(get_product(sku=1234)["title"])
