# tools: shop
# expect: none-value line 4
product = get_product(sku="AB-1234")
print(product["dimensions"]["width_cm"])
