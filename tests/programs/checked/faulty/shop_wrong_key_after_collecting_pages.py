# tools: shop
# expect: missing-key line 10
products, cursor = [], None
while True:
    page = search_products(query="chess", cursor=cursor)
    products += page["items"]
    cursor = page["next_cursor"]
    if not cursor:
        break
print(max(products, key=lambda p: p["cost"]))
