# tools: shop
# expect: none
ratings = list(filter(None, (p["rating"] for p in search_products(query="go")["items"])))
print(sum(ratings) / len(ratings) if ratings else None)
