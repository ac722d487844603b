# tools: shop
# expect: none
products = []
cursor = None
while True:
    page = search_products(query="chess", cursor=cursor, limit=100)
    products.extend(page["items"])
    cursor = page["next_cursor"]
    if cursor is None:
        break
print(len(products), max(p["price"] for p in products))
