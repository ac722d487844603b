# tools: shop
# expect: none
import math, statistics

items = search_products(query="chess")["items"]
ratings = [p["rating"] for p in items if p["rating"] is not None]
if ratings:
    print(statistics.mean(ratings), statistics.median(ratings), round(statistics.fmean(ratings), 1))
print([math.floor(p["rating"]) for p in items if p.get("rating")])
hours, rest = divmod(items[0].get("rating") or 0, 60)
print(f"{hours:.0f}", rest)
hours, rest = divmod(len(items), 60)
print(f"{hours:02d}", rest)
days = {p["sku"]: p["stock"] for p in items}
if days:
    print(max(days, key=days.get), get_order(order_id=math.ceil(statistics.mean([1, 2])))["status"])
    print(get_order(order_id=round(statistics.fmean(days.values())))["status"])
