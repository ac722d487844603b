# tools: shop
# expect: none
from operator import itemgetter, attrgetter
orders = list_orders(customer_id=1)
orders.sort(key=itemgetter("customer_id", "order_id"), reverse=True)
def placed(order):
    return order["placed_at"], -order["order_id"]
orders.sort(key=placed)
print(sorted(orders, key=lambda o: (o["status"], len(o["lines"])))[0]["order_id"], min(orders, key=itemgetter("order_id"))["status"])
