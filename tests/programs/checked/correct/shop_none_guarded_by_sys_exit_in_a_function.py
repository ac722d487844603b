# tools: shop
# expect: none
import sys

def need(customer):
    if not customer:
        print("nobody")
        sys.exit(0)
    return customer

found = find_customer(e_mail="a@example.org")
if not found:
    sys.exit("nobody")
print(found["name"], need(found)["email"])
