# tools: bfcl
# expect: used-before-assignment line 12
# fault: remaining is assigned inside book without nonlocal or global, so the augmented assignment raises UnboundLocalError
remaining = get_account_info().get("balance", 0.0)
placed = []


def book(symbol, amount):
    price = get_stock_info(symbol=symbol).get("price")
    if price is None:
        return
    remaining -= price * amount
    order = place_order(order_type="Buy", symbol=symbol, price=price, amount=amount)
    placed.append(order.get("order_id"))


for company, amount in {"Apple": 2, "Tesla": 1}.items():
    symbol = get_symbol_by_name(name=company).get("symbol", "Stock not found")
    if symbol != "Stock not found":
        book(symbol, amount)

print(placed, f"{remaining:.2f} left")
