# tools: shop
# expect: none
customer = get_customer(customer_id=1)
if customer.get("error"):
    print("failed", customer.get("message", ""))
elif not customer.get("blocked"):
    print(customer["name"] if customer.get("name") else "?")
