# tools: bfcl:trading_bot
# expect: none
info = get_account_info()
budget = info["balance"] * 0.1
prices = {symbol: get_stock_info(symbol=symbol)["price"] for symbol in get_watchlist()["watchlist"]}
symbol = min(prices, key=prices.get)
amount = int(budget // prices[symbol])
if amount >= 1:
    order = place_order(order_type="Buy", symbol=symbol, price=prices[symbol], amount=amount)
    if (details := get_order_details(order_id=order["order_id"]))["status"] != "Open":
        print("odd:", details["status"])
    print(order["order_id"], round(order["price"] * order["amount"], 2))
average = get_stock_info(symbol=symbol)["MA(5)"]
history = get_transaction_history(start_date="2024-01-01")["transaction_history"]
print(f"{average:.2f}", [t["amount"] for t in history if t["type"] == "deposit"])
