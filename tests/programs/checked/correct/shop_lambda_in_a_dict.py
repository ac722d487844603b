# tools: shop
# expect: none
actions = {
    "title": lambda p: p["title"],
    "price": lambda p: p["price"],
}
product = get_product(sku="AB-1234")
for name, action in actions.items():
    print(name, action(product))
