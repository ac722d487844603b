# tools: shop
# expect: none
customer = get_customer(customer_id=1)
try:
    name = customer["full_name"]
except KeyError:
    name = customer["name"]
print(name)
