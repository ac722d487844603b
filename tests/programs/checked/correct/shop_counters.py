# tools: shop
# expect: none
from collections import Counter, defaultdict

orders = list_orders(customer_id=1)
by_status = Counter(o["status"] for o in orders)
spent = defaultdict(float)
for o in orders:
    for line in o["lines"]:
        spent[line["sku"]] += line["quantity"] * line["unit_price"]
top, amount = max(spent.items(), key=lambda item: item[1])
print(by_status.most_common(1)[0][0], by_status["open"], by_status.get("lost", 0), top, round(amount, 2))
