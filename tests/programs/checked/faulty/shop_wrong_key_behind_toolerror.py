# tools: shop
# expect: missing-key line 5
try:
    product = get_product(sku="AB-1234")
    print(product["name"])
except ToolError as error:
    print(error.status)
