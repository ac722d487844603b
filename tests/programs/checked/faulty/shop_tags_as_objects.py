# tools: shop
# kind: texts read as objects in nested loops
# expect: not-an-object line 11
from collections import Counter

tags = Counter()
cursor = None
while True:
    page = search_products(query="wood", cursor=cursor) if cursor else search_products(query="wood")
    for item in page["items"]:
        tags.update(tag["name"] for tag in item["tags"])
    cursor = page["next_cursor"]
    if cursor is None:
        break
print(tags.most_common(3))
