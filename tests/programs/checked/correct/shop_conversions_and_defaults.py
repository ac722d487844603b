# tools: shop
# expect: none
def price_of(product, currency="EUR", *, factor=1):
    price = product["price"] * factor
    if currency == "EUR":
        return price
    return convert(amount=price, source="EUR", target=currency)

product = get_product(sku="AB-1234")
print(price_of(product), price_of(product, "USD"), price_of(product, factor=2, currency="JPY"))
