# tools: shop
# expect: none-value line 7
def load(number):
    order = get_order(order_id=number)

order = load(1)
print(order["status"])
