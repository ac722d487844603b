# tools: shop
# expect: none
things = list_orders(customer_id=1) + list_customers()
things += [{"name": "mine", "own": True}]
for thing in things:
    print(thing.get("status") or thing.get("name"), "own" in thing and thing["own"])
    if "order_id" in thing:
        print(thing["lines"])
    else:
        print(thing["name"])
