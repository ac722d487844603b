# tools: shop
# expect: missing-key line 5
# says: Did you mean 'email'
customer = get_customer(customer_id=1)
print(customer.get("e_mail_address", "unknown"))
