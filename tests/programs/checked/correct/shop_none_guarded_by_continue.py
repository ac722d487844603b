# tools: shop
# expect: none
late = []
for order in list_orders(customer_id=1):
    days = order["delay_days"]
    if days is None:
        continue
    if days > 3 and order["delay_days"] < 10:
        late.append((order["order_id"], days))
print(sorted(late, key=lambda pair: pair[1], reverse=True))
