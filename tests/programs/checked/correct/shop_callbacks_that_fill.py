# tools: shop
# expect: none
stats = {"ok": 0}
rows = [{"a": 1}]
def on_order(order):
    stats["failed"] = 1
    rows.append({"b": order["status"]})

from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor() as pool:
    list(pool.map(on_order, list_orders(customer_id=1)))
print(stats["failed"], rows[-1]["b"])
