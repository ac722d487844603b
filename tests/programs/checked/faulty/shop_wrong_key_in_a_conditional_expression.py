# tools: shop
# expect: missing-key line 4
product = get_product(sku="AB-1234")
print("yes" if product["available"] else "no")
