# tools: bfcl
# expect: used-before-assignment line 17
# fault: balance is bound only where the login status is true, and used afterwards in every case.
session = trading_get_login_status()
if session.get("status"):
    account = get_account_info()
    balance = account.get("balance", 0.0)
else:
    print("Note: not logged in to the trading system.")

open_value = 0.0
for order_id in get_order_history().get("order_history", []):
    order = get_order_details(order_id=order_id)
    if order.get("status") in ("Open", "Pending"):
        open_value += order.get("price", 0.0) * order.get("amount", 0)

print(f"Free after open orders: {balance - open_value:,.2f}")
