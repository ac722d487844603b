# tools: shop
# expect: none
from collections import defaultdict
from datetime import datetime

per_month = defaultdict(lambda: {"orders": 0, "revenue": 0.0})
for customer in list_customers():
    if (order_id := customer["last_order"]) is None:
        continue
    order = get_order(order_id=order_id)
    month = datetime.fromisoformat(order["placed_at"].replace("Z", "+00:00")).strftime("%Y-%m")
    slot = per_month[month]
    slot["orders"] += 1
    slot["revenue"] += sum(l["quantity"] * l["unit_price"] for l in order["lines"]) + order["totals"].get("shipping", 0)
    if order["payment"]["method"] == "card":
        slot.setdefault("cards", set()).add(order["payment"]["last4"])
for month in sorted(per_month, reverse=True):
    row = per_month[month]
    print(f"{month}: {row['orders']} orders, {row['revenue']:.2f}, {len(row.get('cards', ()))} cards")
