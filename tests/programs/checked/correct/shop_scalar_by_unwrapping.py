# tools: shop
# expect: none
price = get_product(sku="AB-1234")["price"]
print(round(convert(amount=price, source="EUR", target="USD"), 2) + 1)
