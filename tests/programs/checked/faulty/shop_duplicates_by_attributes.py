# tools: shop
# expect: unhashable line 9
# expect: unhashable line 12
# fault: attributes is a dict, so the tuple key cannot be hashed and the set test raises TypeError
seen = set()
unique, doubles = [], 0
for product in search_products(query="lamp", limit=100)["items"]:
    key = (product["title"].casefold(), product["attributes"])
    if key in seen:
        doubles += 1
        continue
    seen.add(key)
    unique.append(product["sku"])
print(f"{len(unique)} different lamps, {doubles} doubles")
