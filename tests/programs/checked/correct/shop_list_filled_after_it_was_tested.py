# tools: shop
# expect: none
done = []
for o in list_orders(customer_id=1):
    if o["order_id"] in done:
        continue
    done.append(o["order_id"])
print(done)
