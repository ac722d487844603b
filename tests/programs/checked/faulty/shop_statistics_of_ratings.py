# tools: shop
# kind: null among numbers
# expect: none-value line 8
# expect: none-value line 9
# expect: none-value line 10
import math, statistics
items = search_products(query="chess")["items"]
print(statistics.mean(p["rating"] for p in items))
print([math.floor(p["rating"]) for p in items])
hours, rest = divmod(items[0].get("rating", 0), 60)
print(hours, rest)
