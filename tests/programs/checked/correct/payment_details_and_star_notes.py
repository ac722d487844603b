# tools: shop
# expect: none
# why: the two payment shapes are read with .get on keys that only one has; nullable notes are unpacked after 'or'; a bool is added to an int on purpose
from datetime import datetime, date

TODAY = date(2024, 6, 1)


def describe(order):
    payment = order["payment"]
    hint = payment.get("last4") or payment.get("due_date", "")
    notes = [*(order["notes"] or ()), f"paid by {payment['method']} {hint}".rstrip()]
    return "; ".join(notes)


late = 0
customer = find_customer(**{"e_mail": "dora@example.org"})
orders = [] if customer is None else list_orders(customer_id=customer["customer_id"], since=f"{TODAY.year}-01-01")
for order in sorted(orders, key=lambda o: datetime.fromisoformat(o["placed_at"][:10])):
    late += (order["delay_days"] or 0) > 3
    carrier = order["shipping"]["carrier"]
    where = order["shipping"]["address"]["city"] + (f" with {carrier}" if carrier else "")
    print(order["order_id"], order["status"].upper(), where, describe(order), sep=" - ")
    for name, amount in order["totals"].items():
        print(f"    {name.title()}: {amount:.2f}")
print(late, "late" if late else "on time, all")
