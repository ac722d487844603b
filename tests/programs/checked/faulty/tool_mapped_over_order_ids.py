# tools: bfcl
# expect: positional-argument line 8
# fault: map calls get_order_details with the id as a positional argument, but tools take keyword arguments only
from collections import defaultdict

history = get_order_history().get("order_history", [])
recent = sorted(history)[-20:]
details = map(get_order_details, recent)

shares = defaultdict(int)
for order in details:
    if order.get("status") != "Completed":
        continue
    sign = -1 if order.get("order_type", "").lower() == "sell" else 1
    shares[order.get("symbol", "?")] += sign * order.get("amount", 0)

print(dict(shares) if shares else "no completed orders")
