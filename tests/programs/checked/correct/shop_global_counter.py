# tools: shop
# expect: none
calls = 0
best = None

def fetch(n):
    global calls, best
    calls += 1
    best = get_order(order_id=n)
    return best

fetch(1)
fetch(2)
print(calls, best["status"])
