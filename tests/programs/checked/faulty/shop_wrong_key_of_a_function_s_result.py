# tools: shop
# expect: missing-key line 7
def customer(number):
    order = get_order(order_id=number)
    return get_customer(customer_id=order["customer_id"])

print(customer(5)["phone"])
