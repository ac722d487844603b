# tools: shop
# expect: missing-key line 4
customer = get_customer(customer_id=2)
print("{} <{}> {}".format(customer["name"], customer["email"]))
