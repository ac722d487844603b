# tools: shop
# kind: value of list.sort used
# expect: none-value line 7
found = search_products(query="lamp", max_price=80.0, limit=20)
cheapest = found["items"].sort(key=lambda p: (p["price"], p["title"]))
if found["total"] > 0:
    for product in cheapest[:3]:
        print(f"{product['title']}: {product['price']:.2f}")
else:
    print("no lamps")
