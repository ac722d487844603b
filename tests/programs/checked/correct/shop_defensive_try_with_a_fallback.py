# tools: shop
# expect: none
product = get_product(sku="AB-1234")
try:
    city = product["seller"]["address"]["city"]
except Exception:
    city = None
print(city)
