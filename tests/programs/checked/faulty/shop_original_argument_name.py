# tools: shop
# expect: unknown-argument line 4
# says: 'e_mail'
print(find_customer(email="a@example.org"))
