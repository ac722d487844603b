# tools: shop
# expect: none
things = [get_order(order_id=1), get_customer(customer_id=2)]
things.append("text")
things[0] = {"label": "x"}
for thing in things:
    print(thing if isinstance(thing, str) else thing.get("label", thing.get("name")))
