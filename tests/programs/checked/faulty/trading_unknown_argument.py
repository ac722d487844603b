# tools: bfcl:trading_bot
# kind: unknown argument
# expect: unknown-argument line 4
order = place_order(order_type="Buy", symbol="AAPL", price=120.5, quantity=3)
print(order["order_id"])
