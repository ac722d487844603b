# tools: shop
# expect: none
product = get_product(sku="AB-1234")
print(product["attributes"]["material"], product["attributes"].get("age", "any").upper())
for name, value in product["attributes"].items():
    print(name.title(), value)
