# tools: shop
# expect: none
from collections import defaultdict
from statistics import fmean


def products(query, **filters):
    cursor = {}
    while True:
        result = search_products(query=query, limit=50, **filters, **cursor)
        yield from result["items"]
        if result["next_cursor"] is None:
            return
        cursor = {"cursor": result["next_cursor"]}


by_seller = defaultdict(list)
for product in products("chess", category="games", max_price=80):
    seller = product["seller"]
    if seller["kind"] == "company":
        name = f"{seller['name']} ({seller['vat_id']})"
    else:
        name = " ".join(seller[k] for k in ("first_name", "last_name"))
    by_seller[name].append(product)

for name, items in sorted(by_seller.items(), key=lambda kv: (-len(kv[1]), kv[0])):
    rated = [p["rating"] for p in items if p["rating"] is not None]
    print(f"{name}: {len(items)} products, {fmean(rated):.1f}" if rated else f"{name}: {len(items)} products")
