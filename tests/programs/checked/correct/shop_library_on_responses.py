# tools: shop
# expect: none
import copy, heapq, bisect
orders = copy.deepcopy(list_orders(customer_id=1))
orders[0]["mark"] = True
print(heapq.nlargest(2, orders, key=lambda o: o["customer_id"])[0]["status"], orders[0]["mark"])
caps = sorted(w["capacity"] for w in list_warehouses())
print(bisect.bisect(caps, 50))
