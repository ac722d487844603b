# tools: shop
# expect: never-equal line 8
# fault: category of a product is an object (id, name, children, parent) and can never equal the text 'games'
wanted = []
position = {}
while True:
    page = search_products(query="castle", limit=50, **position)
    wanted += [p for p in page["items"] if p["category"] == "games" and p["stock"] > 0]
    if page["next_cursor"] is None:
        break
    position = {"cursor": page["next_cursor"]}

for p in sorted(wanted, key=lambda p: p["price"]):
    print(f"{p['sku']}  {p['title']}  {p['price']:.2f}")
print(len(wanted), "games in stock")
