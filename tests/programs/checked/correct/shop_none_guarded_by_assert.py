# tools: shop
# expect: none
customer = find_customer(e_mail="a@example.org")
assert customer is not None, "no such customer"
print(customer["name"])
