# tools: shop
# expect: none
print([(o["order_id"], l["sku"]) for o in list_orders(customer_id=1) if o["lines"] for l in o["lines"] if l["quantity"] > 1])
print({c["name"]: [o["status"] for o in list_orders(customer_id=c["customer_id"])] for c in list_customers(vip=True)})
print(sum(len(o["lines"]) for c in list_customers() for o in list_orders(customer_id=c["customer_id"])))
