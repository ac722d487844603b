# tools: shop
# expect: none
customer = find_customer(e_mail="a@example.org")
if customer is None:
    print("no such customer")
    raise SystemExit
print(customer["name"], customer["vip"])
