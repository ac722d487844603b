# tools: shop
# expect: none
from datetime import date, datetime


def payment_text(order):
    match order["payment"]:
        case {"method": "card", "last4": digits}:
            return f"card ending in {digits}"
        case {"method": "invoice", "due_date": due}:
            return f"invoice due {due}"
    return "unknown"


rows = []
for customer in list_customers(vip=True):
    if (number := customer["last_order"]) is None:
        continue
    order = get_order(order_id=number)
    placed = datetime.fromisoformat(order["placed_at"].replace("Z", "+00:00"))
    age = (date.today() - placed.date()).days
    late = order["delay_days"] or 0
    notes = [n.strip() for n in order["notes"] or ()]
    address = order["shipping"]["address"]
    rows.append((age, late, customer["name"], payment_text(order), "; ".join(notes) or "-", address["city"]))

for age, late, name, payment, notes, city in sorted(rows, key=lambda r: r[:3], reverse=True):
    print(f"{name:<20}{city:<15}{age:>5} days{late:>4} late  {payment} {notes}")
