# tools: shop
# expect: missing-key line 8
def both(number):
    order = get_order(order_id=number)
    return order, get_customer(customer_id=order["customer_id"])

order, customer = both(1)
print(order["status"], customer["address"])
