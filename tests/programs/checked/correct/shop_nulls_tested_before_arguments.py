# tools: shop
# expect: none
def last_orders(vip):
    return {c["last_order"] for c in list_customers(vip=vip)}


numbers = last_orders(True)
numbers.discard(None)
for number in sorted(numbers):
    print(get_order(order_id=number)["status"])
kept = last_orders(False).difference({None})
print([get_order(order_id=number)["status"] for number in kept])
for customer in list_customers():
    if customer["last_order"] is None:
        continue
    print(get_order(order_id=customer["last_order"])["placed_at"])
for customer in list_customers():
    number = customer["last_order"]
    try:
        print(get_order(order_id=number)["placed_at"])
    except ToolError:
        print("no order")
firsts = [c["last_order"] for c in list_customers() if c["last_order"]]
print([get_order(order_id=number)["order_id"] for number in firsts])
print([get_order(order_id=c["last_order"] or 1)["order_id"] for c in list_customers()])
page = search_products(query="go")
print(search_products(query="go", cursor=page["next_cursor"])["total"])
