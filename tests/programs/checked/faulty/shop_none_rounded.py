# tools: shop
# expect: none-value line 3
print(round(get_product(sku="AB-1234")["rating"], 1))
