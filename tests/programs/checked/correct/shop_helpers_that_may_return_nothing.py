# tools: shop
# expect: none
def cheapest(query):
    items = search_products(query=query)["items"]
    if items:
        return min(items, key=lambda p: p["price"])


best = cheapest("chess")
print(best["title"] if best else "nothing")
other = cheapest("go")
if other is not None:
    print(other["title"])
if (third := cheapest("dice")) is not None:
    print(f"{third['price']:.2f}")


def word(order):
    if order["status"] == "open":
        return "to do"
    elif order["status"] == "paid":
        return "to send"
    elif order["status"] in ("shipped", "cancelled"):
        return "done"


def mark(order):
    match order["status"]:
        case "open" | "paid":
            return "a"
        case "shipped" | "cancelled":
            return "b"


def total(order):
    with_lines = order["lines"]
    if with_lines:
        return sum(line["quantity"] for line in with_lines)
    else:
        raise SystemExit("no lines")


order = get_order(order_id=1)
print(word(order).upper() + mark(order).upper(), total(order) + 1)


def find(query, sku):
    for p in search_products(query=query)["items"]:
        if p["sku"] == sku:
            return p


print(find("go", "GM-0001")["title"])
