# tools: shop
# expect: no-attribute line 4
from operator import attrgetter
days = attrgetter("shipping.days")
orders = list_orders(customer_id=7)
print(sum(map(days, orders)))
