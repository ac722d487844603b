# tools: shop
# expect: none
report = {"orders": {}, "skus": set(), "log": [[]]}
for o in list_orders(customer_id=1):
    report["orders"][o["order_id"]] = {"status": o["status"], "lines": [l["sku"] for l in o["lines"]]}
    report["skus"] |= {l["sku"] for l in o["lines"]}
    report["log"][-1].append(o["status"])
for number, entry in report["orders"].items():
    print(number, entry["status"], entry["lines"][0] if entry["lines"] else None)
print(len(report["skus"]))
