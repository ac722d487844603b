# tools: shop
# expect: none
state = {"best": None, "count": 0}
def visit(order):
    state["count"] += 1
    if state["best"] is None or order["order_id"] > state["best"]["order_id"]:
        state["best"] = order

for o in list_orders(customer_id=1):
    visit(o)
if state["best"]:
    print(state["best"]["status"], state["count"])
print(state["best"]["lines"])
