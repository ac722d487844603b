# tools: shop
# expect: missing-key line 9
# fault: the template has a field mail, but format gets name, email and mark only: KeyError
CARD = "{mark} {name} <{mail}>"


def card(customer):
    mark = "*" if customer["vip"] else "-"
    return CARD.format(name=customer["name"], email=customer["email"], mark=mark)


everybody = list_customers()
for customer in sorted(everybody, key=lambda c: c["name"].lower()):
    print(card(customer))
print(len(everybody), "customers")
