# tools: shop
# expect: unhashable line 11
# fault: sizes is a list, and a list cannot be a member of a set (unhashable)
catalogue = search_products(query="jacket", limit=50)

ranges = set()
for product in catalogue["items"]:
    for variant in product.get("variants", []):
        sizes = variant["sizes"]
        if len(sizes) > 1:
            ranges.add(sizes)

print(f"{len(ranges)} different size ranges")
for r in sorted(ranges, key=len):
    print(" / ".join(r))
