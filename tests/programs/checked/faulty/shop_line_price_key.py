# tools: shop
# kind: field of the order's lines mis-remembered
# expect: missing-key line 13
from collections import defaultdict

spent = defaultdict(float)
for customer in list_customers(vip=True):
    if customer["last_order"] is None:
        continue
    order = get_order(order_id=customer["last_order"])
    for line in order["lines"]:
        product = get_product(sku=line["sku"])
        spent[product["category"]["name"]] += line["quantity"] * line["price"]

for category, amount in sorted(spent.items(), key=lambda kv: kv[1], reverse=True):
    print(f"{category}: {amount:.2f}")
