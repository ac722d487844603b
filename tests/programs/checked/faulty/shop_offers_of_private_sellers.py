# tools: shop
# expect: missing-key line 7
# fault: a seller of kind person has first_name and last_name but no name, so seller['name'] fails for it
def offer(sku):
    product = get_product(sku=sku)
    seller = product.pop("seller")
    return product | {"sold_by": seller["name"]}


skus = ["BK-0012", "BK-0450", "GM-1201"]
for o in sorted(map(offer, skus), key=lambda o: o["price"]):
    stock = "sold out" if o["stock"] <= 0 else f"{o['stock']} left"
    print(f"{o['title']} from {o['sold_by']}: {o['price']:.2f} ({stock})")
