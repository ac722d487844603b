# tools: shop
# expect: none
def name(number, fallback=None, seen=None):
    seen = seen or []
    seen.append(number)
    customer = get_customer(customer_id=number)
    if fallback is None:
        fallback = customer
    return fallback["name"], seen[0]

print(name(1), name(2, fallback={"name": "x"}))
