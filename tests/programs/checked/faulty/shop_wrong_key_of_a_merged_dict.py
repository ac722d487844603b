# tools: shop
# expect: missing-key line 4
product = {**get_product(sku="AB-1234"), "seen": True}
print(product["seen"], product["cost"])
