# tools: shop
# expect: none
cache = {}
def customer(number):
    if number not in cache:
        cache[number] = get_customer(customer_id=number)
    return cache[number]

print({customer(o["customer_id"])["name"] for o in list_orders(customer_id=1)}, cache[1]["email"] if 1 in cache else None)
