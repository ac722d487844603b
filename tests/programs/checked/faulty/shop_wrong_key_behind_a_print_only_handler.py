# tools: shop
# expect: missing-key line 5
try:
    product = get_product(sku="AB-1234")
    print(product["name"])
except Exception as error:
    print("failed", error)
