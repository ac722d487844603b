# tools: shop
# kind: invented key in a nested comprehension
# expect: missing-key line 10
customers = list_customers(vip=True)
order_ids = [c["last_order"] for c in customers if c["last_order"] is not None]
revenue = {}
for order in (get_order(order_id=i) for i in order_ids):
    country = order["shipping"]["address"]["country"]
    revenue.setdefault(country, 0)
    revenue[country] += sum(line["quantity"] * line["price"] for line in order["lines"])
for country, amount in sorted(revenue.items(), key=lambda kv: -kv[1]):
    print(country, round(amount, 2))
