# tools: shop
# expect: none
customer = get_customer(customer_id=1)
print(customer.get("full_name", customer["name"]), customer.get("nickname") or customer["name"])
