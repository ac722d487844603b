# tools: shop
# expect: none
orders = list_orders(customer_id=1)
first, second = orders[0]["delay_days"], orders[1]["delay_days"]
if None not in (first, second):
    print(first - second)
