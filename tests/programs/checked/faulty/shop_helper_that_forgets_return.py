# tools: shop
# kind: a value forgotten
# expect: none-value line 13
# expect: none-value line 22
def share(product):
    if not product["stock"]:
        return 0.0
    value = 1 / product["stock"]


for product in search_products(query="go")["items"]:
    # `share` computes the value but gives it back only where there is no stock.
    print(f"{share(product):.2f}")


def cheapest(query):
    items = search_products(query=query)["items"]
    if items:
        return min(items, key=lambda p: p["price"])


print(cheapest("chess")["title"])
