# tools: bfcl:trading_bot
# kind: nested paths
# expect: not-an-object line 5
for order_id in get_order_history()["order_history"]:
    print(order_id["symbol"])
