# tools: shop
# expect: none
for order in list_orders(customer_id=1):
    if (carrier := order["shipping"]["carrier"]) is not None:
        print(carrier.upper())
    if notes := order["notes"]:
        print(len(notes), notes[0].strip())
