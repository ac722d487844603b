# tools: shop
# kind: pages asked for with a wrong keyword
# expect: unknown-argument line 10
from statistics import fmean


def every_product(query, category):
    page, items = 1, []
    while True:
        result = search_products(query=query, category=category, limit=100, page=page)
        items.extend(result["items"])
        if len(items) >= result["total"] or not result["items"]:
            return items
        page += 1


groups = {name: every_product("classic", name) for name in ("books", "games")}
for name, products in groups.items():
    rated = [p["rating"] for p in products if p["rating"] is not None]
    print(f"{name}: {len(products)} products, mean rating {fmean(rated) if rated else 0:.2f}")
