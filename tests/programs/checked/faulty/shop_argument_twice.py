# tools: shop
# expect: doubled-argument line 4
# says: sku
print(get_product(sku="AB-1234", sku="AB-1235")["title"])
