# tools: shop
# expect: none-value line 4
ratings = [p["rating"] for p in search_products(query="chess")["items"]]
print(sum(ratings) / len(ratings))
