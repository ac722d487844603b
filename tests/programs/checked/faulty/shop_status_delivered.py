# tools: shop
# kind: literal outside of the enum
# expect: bad-literal line 6
seen = 0
for customer in list_customers():
    done = list_orders(customer_id=customer["customer_id"], status="delivered")
    seen += 1
    print(seen, customer["name"], done)
