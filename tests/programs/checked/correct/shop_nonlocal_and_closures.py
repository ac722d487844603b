# tools: shop
# expect: none
def counter():
    seen = {}
    count = 0
    def visit(order):
        nonlocal count
        count += 1
        seen[order["order_id"]] = order
        return count
    return visit, seen

visit, seen = counter()
for order in list_orders(customer_id=1):
    visit(order)
print(len(seen), [o["status"] for o in seen.values()])
