# tools: shop
# expect: missing-key line 3
print({(o["status"], o["total"]) for o in list_orders(customer_id=1)})
