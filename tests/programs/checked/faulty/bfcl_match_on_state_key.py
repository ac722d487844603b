# tools: bfcl
# expect: missing-key line 8
# expect: missing-key line 10
# fault: get_order_details has no key "state" (the key is "status"), so neither of the two patterns can ever match.
done, waiting, other = [], [], []
for order_id in get_order_history().get("order_history", []):
    match get_order_details(order_id=order_id):
        case {"state": "Completed", "symbol": symbol}:
            done.append((order_id, symbol))
        case {"state": "Open" | "Pending", "symbol": symbol}:
            waiting.append((order_id, symbol))
        case _:
            other.append(order_id)
print(f"completed: {len(done)}, waiting: {len(waiting)}, other: {len(other)}")
for order_id, symbol in waiting:
    print(f"  order {order_id} for {symbol} is still waiting")
