# tools: shop
# expect: wrong-argument-type line 5
# says: an integer
def status(number):
    return get_order(order_id=number)["status"]
print(status("17"))
