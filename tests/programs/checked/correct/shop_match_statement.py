# tools: shop
# expect: none
order = get_order(order_id=1)
match order["status"]:
    case "open" | "paid":
        print("waiting")
    case "shipped" if order["shipping"]["carrier"]:
        print(order["shipping"]["carrier"].upper())
    case other:
        print(other)
match order:
    case {"payment": {"method": "card", "last4": digits}}:
        print(digits)
    case _:
        print("invoice")
