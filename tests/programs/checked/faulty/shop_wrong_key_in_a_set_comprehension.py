# tools: shop
# expect: missing-key line 3
print({o["state"] for o in list_orders(customer_id=1)})
