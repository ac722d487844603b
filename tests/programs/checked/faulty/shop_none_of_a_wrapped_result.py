# tools: shop
# expect: none-value line 4
customer = find_customer(e_mail="a@example.org")
print(customer["name"])
