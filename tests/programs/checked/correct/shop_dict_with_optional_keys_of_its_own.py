# tools: shop
# expect: none
summary = {"open": 0}
for o in list_orders(customer_id=1):
    if o["status"] not in summary:
        summary[o["status"]] = 0
    summary[o["status"]] += 1
print(summary["open"], summary.get("paid"), summary["shipped"] if "shipped" in summary else 0)
