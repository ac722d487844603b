# tools: shop
# expect: used-before-assignment line 10
# fault: late is assigned inside check without global, so late += 1 raises UnboundLocalError
late = 0


def check(order):
    delay = order["delay_days"]
    if delay is not None and delay > 3:
        late += 1
    return order["shipping"]["carrier"] or "unknown"


carriers = [check(o) for c in list_customers() for o in list_orders(customer_id=c["customer_id"], status="shipped")]
print(f"{late} of {len(carriers)} orders are late; carriers: {', '.join(sorted(set(carriers)))}")
