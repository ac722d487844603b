# tools: bfcl:trading_bot
# kind: list of ids read as list of orders
# expect: not-an-object line 9
# expect: not-an-object line 10
trading_login(username="quant_dev", password="s3cret")
history = get_order_history()["order_history"]
pending = []
for order in history:
    if order["status"] == "Pending":
        pending.append(order["symbol"])
print("Pending symbols:", ", ".join(sorted(set(pending))))
