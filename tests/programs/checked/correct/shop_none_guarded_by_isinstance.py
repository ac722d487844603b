# tools: shop
# expect: none
for order in list_orders(customer_id=1):
    if isinstance(order["delay_days"], int):
        print(order["delay_days"] * 2)
    notes = order["notes"]
    if isinstance(notes, list):
        print(", ".join(notes))
