# tools: shop
# expect: none
import random
if random.random() > 0.5:
    def pick(p): return p["price"]
else:
    def pick(p): return -p["price"]
print(sorted(search_products(query="go")["items"], key=pick)[0]["title"])
