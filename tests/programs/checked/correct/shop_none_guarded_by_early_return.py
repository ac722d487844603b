# tools: shop
# expect: none
def days_late(order):
    if order["delay_days"] is None:
        return 0
    return order["delay_days"]

print(sum(days_late(o) for o in list_orders(customer_id=1)))
