# tools: shop
# expect: missing-key line 6
def reader(number):
    order = get_order(order_id=number)
    def read():
        return order["price"]
    return read
print(reader(1)())
