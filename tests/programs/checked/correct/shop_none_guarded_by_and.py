# tools: shop
# expect: none
for p in search_products(query="go")["items"]:
    if p["dimensions"] is not None and p["dimensions"]["width_cm"] > 30 and p["rating"] and p["rating"] >= 4:
        print(p["title"])
