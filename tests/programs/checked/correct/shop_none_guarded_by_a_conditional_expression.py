# tools: shop
# expect: none
product = get_product(sku="AB-1234")
size = f"{product['dimensions']['width_cm']:.0f} cm" if product["dimensions"] else "unknown"
print(size, "unrated" if product["rating"] is None else round(product["rating"], 1))
