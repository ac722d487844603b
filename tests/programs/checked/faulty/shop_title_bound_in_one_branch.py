# tools: shop
# kind: a name that one way only assigns
# expect: used-before-assignment line 8
# expect: used-before-assignment line 14
product = get_product(sku="AB-1234")
if product["rating"] is not None:
    stars = round(product["rating"])
print(product["title"], stars)
try:
    order = get_order(order_id=1)
    state = order["status"]
except ToolError as error:
    print("no such order", error)
print(state)
