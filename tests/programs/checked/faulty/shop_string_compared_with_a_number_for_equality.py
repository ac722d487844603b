# tools: shop
# expect: never-equal line 4
# says: 3
print([o["status"] for o in list_orders(customer_id=1) if o["order_id"] == "3"])
