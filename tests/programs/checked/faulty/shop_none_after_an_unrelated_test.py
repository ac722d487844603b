# tools: shop
# expect: none-value line 5
for p in search_products(query="chess")["items"]:
    if p["title"]:
        print(p["rating"] > 3)
