# tools: shop
# kind: null into an argument
# expect: none-value line 10
# expect: none-value line 14
def last_orders():
    return {c["last_order"] for c in list_customers()}


for number in last_orders():
    print(get_order(order_id=number)["status"])


def placed(number):
    return get_order(order_id=number)["placed_at"]


print([placed(c["last_order"]) for c in list_customers()])
