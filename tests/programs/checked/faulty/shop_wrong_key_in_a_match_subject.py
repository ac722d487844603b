# tools: shop
# expect: missing-key line 4
order = get_order(order_id=1)
match order["state"]:
    case "open":
        print("open")
