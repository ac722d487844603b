# tools: shop
# kind: ISO text given to fromtimestamp
# expect: wrong-operand line 12
from datetime import datetime, timezone

order_ids = [1001, 1002, 1003, 1004]
waiting = []
for order_id in order_ids:
    order = get_order(order_id=order_id)
    if order["status"] not in ("open", "paid"):
        continue
    placed = datetime.fromtimestamp(order["placed_at"], tz=timezone.utc)
    due = order["shipping"]["days"] + (order["delay_days"] or 0)
    waited = (datetime.now(timezone.utc) - placed).days
    if waited > due:
        waiting.append((waited - due, order_id, order["shipping"]["address"]["country"]))

for over, order_id, country in sorted(waiting, reverse=True):
    print(f"Order {order_id} to {country} is {over} days over time")
