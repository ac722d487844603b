# tools: shop
# expect: missing-key line 4
seller = get_product(sku="AB-1234")["seller"]
print(seller["title"])
