# tools: shop
# expect: missing-key line 8
# says: next_cursor
products, cursor = [], None
while True:
    page = search_products(query="chess", cursor=cursor)
    products.extend(page["items"])
    cursor = page["next"]
    if not cursor:
        break
print(len(products))
