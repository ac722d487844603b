# tools: shop
# expect: wrong-operand line 10
# fault: totals is a dict of text to number, so sum(o['totals']) adds its keys: int + str
from collections import defaultdict

names = {c["customer_id"]: c["name"] for c in list_customers(vip=True)}
spent = defaultdict(float)
for customer_id in names:
    for o in list_orders(customer_id=customer_id, status="paid", since="2026-01-01"):
        spent[customer_id] += sum(o["totals"])

for customer_id, amount in sorted(spent.items(), key=lambda pair: -pair[1])[:10]:
    print(f"{names[customer_id]:<30}{amount:>12,.2f}")
print(f"{sum(spent.values()):,.2f} in all")
