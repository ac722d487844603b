# tools: shop
# expect: not-a-list line 5
from itertools import chain
tags = chain.from_iterable(p["tags"] for p in search_products(query="oak")["items"])
print(len(tags), "tags")
