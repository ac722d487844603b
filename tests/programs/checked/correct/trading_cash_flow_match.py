# tools: bfcl:trading_bot
# expect: none
from collections import defaultdict

flows = defaultdict(lambda: {"in": 0.0, "out": 0.0, "n": 0})
for entry in get_transaction_history(start_date="2024-01-01", end_date="2024-12-31")["transaction_history"]:
    month = entry["timestamp"][:7]
    match entry:
        case {"type": "deposit", "amount": amount}:
            flows[month]["in"] += amount
        case {"type": "withdrawal" | "withdraw", "amount": amount}:
            flows[month]["out"] += abs(amount)
        case {"type": str(other)}:
            print("skipped", other)
            continue
    flows[month]["n"] += 1
for month in sorted(flows):
    row = flows[month]
    print(month, row["n"], round(row["in"] - row["out"], 2))
if (missing := 5000 - get_account_info()["balance"]) > 0:
    print(fund_account(amount=missing)["new_balance"])
