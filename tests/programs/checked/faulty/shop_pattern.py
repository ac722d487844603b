# tools: shop
# expect: bad-literal line 4
# says: pattern
print(get_product(sku="1234")["title"])
