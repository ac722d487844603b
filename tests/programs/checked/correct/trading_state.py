# tools: bfcl:trading_bot
# expect: none
portfolio = {}
for order_id in get_order_history()["order_history"]:
    order = get_order_details(order_id=order_id)
    sign = {"Buy": 1, "Sell": -1}.get(order["order_type"], 0)
    entry = portfolio.setdefault(order["symbol"], {"amount": 0, "spent": 0.0})
    entry["amount"] += sign * order["amount"]
    entry["spent"] += sign * order["amount"] * order["price"]
for symbol, entry in portfolio.items():
    price = get_stock_info(symbol=symbol).get("price", 0.0)
    print(symbol, entry["amount"], round(entry["amount"] * price - entry["spent"], 2))
