# tools: shop
# expect: unknown-argument line 5
# fault: find_customer has no argument email; it takes e_mail, which is missing
addresses = ["mina@example.org", "tariq@example.org"]
found = [find_customer(email=address) for address in addresses]
for address, customer in zip(addresses, found):
    if customer is None:
        print(address, "is unknown")
        continue
    orders = list_orders(customer_id=customer["customer_id"], status="open")
    print(f"{customer['name']}: {len(orders)} open orders")
