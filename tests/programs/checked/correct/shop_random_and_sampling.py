# tools: shop
# expect: none
import random
random.seed(1)
orders = list_orders(customer_id=1)
pick = random.choice(orders)
print(pick["status"], random.sample(orders, 2)[0]["order_id"], random.randint(1, 3) + pick["order_id"])
