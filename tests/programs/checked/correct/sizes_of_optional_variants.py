# tools: shop
# expect: none
# why: variants may be absent, and .get with an empty tuple is used; a set of frozensets is right because frozensets are hashable; dimensions may be null and is bound by a walrus
page = search_products(query="shirt", max_price=99.99)
runs = set()
areas = {}
for item in page["items"]:
    runs |= {frozenset(v["sizes"]) for v in item.get("variants", ())}
    if (d := item["dimensions"]) is not None:
        areas[item["sku"]] = d["width_cm"] * d["height_cm"]
    elif "size" in item["attributes"]:
        areas[item["sku"]] = float("nan")

common = frozenset.intersection(*runs) if runs else frozenset()
print(f"{len(runs)} runs, common to all: {', '.join(sorted(common)) or 'nothing'}")
flat = {sku: a for sku, a in areas.items() if a == a}
if flat:
    sku = min(flat, key=flat.get)
    print(f"smallest: {sku} with {flat[sku]:g} cm2")
