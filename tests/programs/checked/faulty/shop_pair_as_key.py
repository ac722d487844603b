# tools: shop
# expect: missing-key line 7
from collections import Counter
cities = {w["code"]: w["city"] for w in list_warehouses()}
counts = Counter(p["sku"][:2] for p in search_products(query="pot")["items"])
for code in counts.most_common(3):
    print(cities[code])
