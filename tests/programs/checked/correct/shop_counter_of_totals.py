# tools: shop
# expect: none
# why: Counter.update adds the numbers of the totals map; the nullable last_order is tested with continue; the two kinds of payment are told apart by method
from collections import Counter

grand, payments = Counter(), []
for customer in list_customers(vip=False):
    number = customer["last_order"]
    if number is None:
        continue
    order = get_order(order_id=number)
    grand.update(order["totals"])
    pay = order["payment"]
    payments.append(pay["due_date"] if pay["method"] == "invoice" else "card ..." + pay["last4"])

for label, amount in grand.most_common():
    print(f"{label.upper():>12}: {amount:,.2f}")
print("Paid by:", *payments or ["nobody"])
