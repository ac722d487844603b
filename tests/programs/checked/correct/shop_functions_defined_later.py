# tools: shop
# expect: none
def main():
    for o in list_orders(customer_id=1):
        print(label(o), LIMIT)

def label(order):
    return f"{order['order_id']}: {order['status']}"

LIMIT = 5
main()
