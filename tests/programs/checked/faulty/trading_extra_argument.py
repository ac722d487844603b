# tools: bfcl:trading_bot
# kind: unknown argument
# expect: unknown-argument line 10
budget = get_account_info()["balance"] * 0.25
symbol = get_symbol_by_name(name="Zeta Corp")["symbol"]
quote = get_stock_info(symbol=symbol)
shares = int(budget // quote["price"])
if shares > 0:
    what = {"symbol": symbol, "price": quote["price"]}
    order = place_order(order_type="Buy", quantity=shares, amount=shares, **what)
    print(order["order_id"], order["status"])
else:
    print("Not enough balance for one share")
