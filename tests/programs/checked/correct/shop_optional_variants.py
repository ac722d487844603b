# tools: shop
# expect: none
# why: variants may be absent: get with an empty tuple, then 'in' before the subscript; sets are joined in place in a defaultdict
from collections import defaultdict

sizes = defaultdict(set)
for product in search_products(query="shirt")["items"]:
    for variant in product.get("variants", ()):
        sizes[variant["color"]] |= set(variant["sizes"])
    if "variants" in product and product["variants"]:
        first, *more = product["variants"]
        print(f"{product['title']}: {first['color']} and {len(more)} more colours")
print({color: sorted(found) for color, found in sizes.items()})
