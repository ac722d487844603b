# tools: shop
# expect: none
def seller_name(seller):
    if seller["kind"] == "company":
        return f"{seller['name']} ({seller['vat_id']})"
    return " ".join((seller["first_name"], seller["last_name"]))


found = search_products(query="puzzle", category="games", limit=50)
sellers = {}
for product in found["items"]:
    sellers.setdefault(seller_name(product["seller"]), []).append(product)
for name, products in sellers.items():
    rated = [p["rating"] for p in products if p["rating"] is not None]
    print(name, len(products), f"{sum(rated) / len(rated):.1f}" if rated else "unrated")
