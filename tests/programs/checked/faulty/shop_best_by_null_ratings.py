# tools: shop
# kind: null among ordered values
# expect: none-value line 6
ratings = {}
ratings.update((p["sku"], p["rating"]) for p in search_products(query="go")["items"])
best = max(ratings, key=ratings.get)
print(best, ratings[best])
