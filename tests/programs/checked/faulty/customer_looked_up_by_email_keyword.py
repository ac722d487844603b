# tools: shop
# expect: unknown-argument line 6
# fault: find_customer's argument is e_mail; the dict passes email, an argument that does not exist, and the required one is missing
def lookup(address: str) -> str:
    arguments = {"email": address.strip().lower()}
    customer = find_customer(**arguments)
    if customer is None:
        return f"{address}: unknown"
    return f"{customer['name']} ({'VIP' if customer['vip'] else 'regular'})"


for who in ("ann@example.org", " Bob@example.org"):
    print(lookup(who))
