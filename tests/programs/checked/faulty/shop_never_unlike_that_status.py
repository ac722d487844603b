# tools: shop
# expect: never-equal line 4
# says: 'cancelled'
print([o["order_id"] for o in list_orders(customer_id=1) if o["status"] != "canceled"])
