# tools: shop
# expect: none
found = search_products(query="zzz")["items"]
if not found:
    print("nothing")
else:
    cheapest = min(found, key=lambda p: p["price"])
    print(cheapest["title"], cheapest["dimensions"] and cheapest["dimensions"]["width_cm"])
